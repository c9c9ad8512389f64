public import RetakeCore
import RetakeTimePlane

/// An error that ends a run. A failing stage is not such an error, but an outcome of its frame.
public enum RuntimeError: RetakeError, Hashable {
  /// A source node was given no frames to read.
  case unboundSource(node: String)
  case noSuchTrack(node: String, track: Int, available: [Int])
  /// Two sources read the same track.
  case sameTrack(nodes: [String], track: Int)
  /// A swap refers to a node that does not exist.
  case unknownSwapNode(String, nodes: [String])
  /// An instant of virtual time never ends.
  case endlessInstant(nanoseconds: Int64, node: String)
  /// Frames are in flight, and no frame can ever advance.
  case stuck(explanation: String)
  /// The stored frames do not match the index, or cannot be read.
  case frameUnreadable(FrameID, cause: String, advice: String?)
  /// A time of the index is further from zero than `EventKey.nanosecondsMax`.
  case timeOutOfRange(FrameID, nanoseconds: Int64)
  /// The same for an event of the device.
  case eventTimeOutOfRange(ordinal: Int, nanoseconds: Int64)
  /// Strict timings have no cost of a stage for a frame, or for an item of it.
  case costMissing(node: String, frame: FrameID, item: Int?, timings: String, detail: String?)
  case interrupted
  case badOption(String)
  /// A source brings its own frames, so frames cannot be pushed to it.
  case notLive(node: String)
  /// A stage could not replace a node's stage.
  case swapRefused(node: String, code: String)
  /// A recorded external event cannot be interpreted.
  case badExternalEvent(ordinal: Int, detail: String)
  /// A recorded external event refers to something that is not in progress.
  case strayExternalEvent(ordinal: Int, detail: String)
  /// A body did not return; its thread is abandoned.
  case hung(node: String, FrameID, seconds: Double)
  /// The system cannot create a thread: memory, or a limit, is exhausted.
  case noThread(name: String, cause: String)

  /// - Parameter error: The error that prevented the time plane from deciding.
  init(_ error: DecisionError) {
    switch error {
    case .endlessInstant(let nanoseconds, let node):
      self = .endlessInstant(nanoseconds: nanoseconds, node: node)
    case .costMissing(let node, let frame, let item, let timings, let detail):
      self = .costMissing(node: node, frame: frame, item: item, timings: timings, detail: detail)
    }
  }

  package var facts: ErrorFacts {
    switch self {
    case .unboundSource(let node):
      ErrorFacts(
        "runtime.source.unbound", "the source '\(node)' has no session to read",
        advice: "Name a session: retake replay SESSION --pipeline P")
    case .noSuchTrack(let node, let track, let available):
      ErrorFacts(
        "runtime.source.noSuchTrack", "'\(node)' reads track \(track), which is not there",
        advice: available.isEmpty
          ? "The session has no video track"
          : "It has track " + available.map(String.init).joined(separator: ", "))
    case .sameTrack(let nodes, let track):
      ErrorFacts(
        "runtime.source.sameTrack",
        "the sources '\(nodes.joined(separator: "' and '"))' both read track \(track)",
        advice: "Let one source lead to both branches, or choose another track")
    case .unknownSwapNode(let node, let nodes):
      ErrorFacts(
        "runtime.swap.unknownNode", "a swap names the node '\(node)', which is not there",
        advice: Suggestion.advice(for: node, among: nodes))
    case .endlessInstant(let nanoseconds, let node):
      ErrorFacts(
        "runtime.core.endlessInstant",
        "virtual time does not advance past \(nanoseconds) ns: zero-delay loop through '\(node)'",
        advice: "Set a cost for a stage of the loop")
    case .stuck(let explanation):
      ErrorFacts("runtime.core.stuck", "no frame can move any more: \(explanation)")
    case .frameUnreadable(let id, let cause, let advice):
      ErrorFacts(
        "runtime.source.frameUnreadable", "frame \(id) cannot be read as it was recorded",
        cause: cause, frame: id, advice: advice)
    case .timeOutOfRange(let id, let nanoseconds):
      ErrorFacts(
        "runtime.source.timeOutOfRange",
        "frame \(id) has an impossible time of \(nanoseconds) ns", frame: id,
        advice: Self.examine)
    case .eventTimeOutOfRange(let ordinal, let nanoseconds):
      ErrorFacts(
        "runtime.source.eventTimeOutOfRange",
        "the device event \(ordinal) has an impossible time of \(nanoseconds) ns",
        advice: Self.examine)
    case .costMissing(let node, let frame, let item, let timings, let detail):
      ErrorFacts(
        "runtime.cost.missing",
        "the timings \(timings) have no cost of '\(node)'" + (item.map { " for item \($0)" } ?? ""),
        cause: detail, frame: frame,
        advice: "Draw it from the timings' other costs: leave out --strict-costs; "
          + "or write timings that have it: retake replay SESSION --pipeline P --write-timings FILE"
      )
    case .interrupted:
      ErrorFacts("runtime.run.interrupted", "the run was interrupted", kind: .interrupted)
    case .badOption(let detail):
      ErrorFacts("runtime.run.badOption", detail)
    case .notLive(let node):
      ErrorFacts(
        "runtime.live.ownFrames", "the source '\(node)' brings its own frames: it cannot run live",
        advice: "Write a source of kind 'session'")
    case .swapRefused(let node, let code):
      ErrorFacts(
        "runtime.swap.refused", "the new stage cannot replace '\(node)' [\(code)]",
        advice: "Use a stage with the same input and output; the old stage continues")
    case .badExternalEvent(let ordinal, let detail):
      ErrorFacts(
        "runtime.live.badEvent", "the external event \(ordinal) cannot be read: \(detail)",
        advice: Self.examine)
    case .strayExternalEvent(let ordinal, let detail):
      ErrorFacts(
        "runtime.live.strayEvent", "the external event \(ordinal) does not fit: \(detail)",
        advice: "The pipeline may not be the recorded pipeline: leave out --pipeline to use that")
    case .hung(let node, let id, let seconds):
      ErrorFacts(
        "runtime.stage.hung", "'\(node)' has not returned for \(Self.text(seconds))", frame: id,
        advice: "If it is only slow, wait longer: "
          + "--watchdog \(Int((10 * seconds).rounded(.up))). If not, look where it hangs: "
          + "retake replay … --workers 0 --watchdog 0 in a debugger")
    case .noThread(let name, let cause):
      ErrorFacts(
        "runtime.memory.noThread", "the system could not start a thread for \(name)", cause: cause,
        advice: "Allow more memory or threads (ulimit -v, ulimit -u), or end other programs")
    }
  }

  private static let examine = "Examine the session: retake session check SESSION"

  private static func text(_ seconds: Double) -> String {
    seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
  }

  /// Stable and dotted, such as `runtime.source.noSuchTrack`.
  public var code: String { facts.code }
  /// One sentence that names the node, the track or the time.
  public var message: String { facts.message }
  /// The underlying error of an unreadable frame, a missing cost or a missing thread; otherwise
  /// `nil`.
  public var cause: String? { facts.cause }
  /// The frame at which the run ended; `nil` if the error is not about a frame.
  public var place: Place? { facts.place }
  /// The next step, such as a command; `nil` if there is no advice.
  public var advice: String? { facts.advice }
}
