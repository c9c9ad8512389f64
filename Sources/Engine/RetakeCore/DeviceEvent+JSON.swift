import Foundation

/// The form of device events in a session: a kind, and a JSON object.
///
/// ```
/// thermal      {"state":"serious"}
/// temperature  {"state":"45.2C"}
/// memory       {"state":"warning"}
/// battery      {"charging":false,"level":18,"lowPower":true}
/// orientation  {"state":"landscapeLeft"}
/// ```
extension DeviceEvent {
  /// The object in the event table, next to the kind. `charging` and `lowPower` are always written.
  package var json: JSONValue {
    switch self {
    case .thermal(let state): .object(["state": .string(state.rawValue)])
    case .temperature(let reading): .object(["state": .string(reading.description)])
    case .memory(let pressure): .object(["state": .string(pressure.rawValue)])
    case .orientation(let side): .object(["state": .string(side.rawValue)])
    case .battery(let state):
      .object([
        "charging": .bool(state.isCharging), "level": .integer(Int64(state.level)),
        "lowPower": .bool(state.isLowPower),
      ])
    }
  }

  /// Reads the object in the event table. A battery's `charging` and `lowPower` default to false.
  ///
  /// - Throws: `DeviceEventError` for an unknown kind, an unknown key, and any other value.
  package init(kind name: String, json: JSONValue) throws {
    guard let kind = Kind(rawValue: name) else { throw DeviceEventError(unknownKind: name) }
    self = try Self.read(kind, json)
  }

  /// Like `init(kind:json:)`, from the string in the event table.
  package init(kind: String, text: String) throws {
    let json: JSONValue
    do {
      json = try JSONValue(parsing: Data(text.utf8))
    } catch is DecodingError {
      throw DeviceEventError(
        DocumentProblem(.malformed("it is not JSON", advice: nil), at: ""))
    }
    try self.init(kind: kind, json: json)
  }

  private static func read(_ kind: Kind, _ json: JSONValue) throws -> DeviceEvent {
    let fields = try StrictDecoder<DeviceEventError>(json)
      .object(kind == .battery ? ["level", "charging", "lowPower"] : ["state"])
    switch kind {
    case .thermal: return .thermal(try fields.required("state").choice("a state"))
    case .temperature: return .temperature(try fields.required("state").temperature())
    case .memory: return .memory(try fields.required("state").choice("a state"))
    case .orientation: return .orientation(try fields.required("state").choice("a state"))
    case .battery:
      let level = try fields.required("level")
      let percent = try level.integer()
      // Checked here, because `BatteryState` ends the process for such a level, and a session may
      // come from someone else.
      guard (0...100).contains(percent) else {
        throw level.wrong("a battery has 0 to 100 percent, not \(percent)")
      }
      return .battery(
        BatteryState(
          level: percent, isCharging: try fields["charging"]?.bool() ?? false,
          isLowPower: try fields["lowPower"]?.bool() ?? false))
    }
  }
}

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

  public var code: String { facts.code }
  public var message: String { facts.message }
  public var place: Place? { facts.place }
  public var advice: String? { facts.advice }
}
