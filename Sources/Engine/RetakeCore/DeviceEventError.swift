import Foundation

/// A row of a session's event table that comes from the device and cannot be interpreted.
public struct DeviceEventError: RetakeError, Hashable, DocumentFailure {
  private enum Reason: Hashable {
    case unknownKind(String)
    case content(DocumentProblem)
  }

  private var reason: Reason
  /// The event's index in the session; `nil` if the event is not from a session.
  package private(set) var ordinal: Int?
  /// The path of the session's folder; `nil` if the event is not from a session.
  package private(set) var session: String?

  init(unknownKind kind: String) { reason = .unknownKind(kind) }

  package init(_ problem: DocumentProblem) { reason = .content(problem) }

  package func placed(ordinal: Int, session: String) -> DeviceEventError {
    var error = self
    (error.ordinal, error.session) = (ordinal, session)
    return error
  }

  package var facts: ErrorFacts {
    let what = ordinal.map { "the device event \($0)" } ?? "the device event"
    let message = "\(what) cannot be read: \(detail)"
    return switch reason {
    case .unknownKind(let kind):
      ErrorFacts(
        "core.deviceEvent.unknownKind", message, at: session,
        advice: Suggestion.advice(for: kind, among: DeviceEvent.Kind.allCases.map(\.rawValue)))
    case .content(let problem):
      ErrorFacts(
        "core.deviceEvent.content", message, at: session,
        pointer: problem.pointer.isEmpty ? nil : problem.pointer, advice: problem.advice)
    }
  }

  /// The problem, without the event.
  package var detail: String {
    switch reason {
    case .unknownKind(let kind): "there is no kind '\(kind)'"
    case .content(let problem): problem.message
    }
  }

  /// `core.deviceEvent.unknownKind` or `core.deviceEvent.content`.
  public var code: String { facts.code }
  /// Names the event by its index in the session, if it is known, and the problem.
  public var message: String { facts.message }
  /// The session's folder, and the JSON pointer into the event's content, as far as they are known.
  public var place: Place? { facts.place }
  /// A correction for the kind or for the content; `nil` if there is no suggestion.
  public var advice: String? { facts.advice }
}
