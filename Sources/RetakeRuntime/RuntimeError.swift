import RetakeCore
import RetakeTimePlane

/// Errors of a run as a whole. A failing stage is not among them: that is an outcome.
public enum RuntimeError: CodedError, Hashable {
  /// A source node was given no frames to read.
  case unboundSource(node: String)
  case noSuchTrack(node: String, track: Int, available: [Int])
  /// Two sources read the same track.
  case sameTrack(nodes: [String], track: Int)
  /// A swap refers to a node that does not exist.
  case unknownSwapNode(String, nodes: [String])
  /// An instant of virtual time never ends.
  case endlessInstant(nanoseconds: Int64, node: String)
  /// Frames are in flight and none of them can ever advance.
  case stuck(explanation: String)
  /// The stored frames do not match the index, or cannot be read.
  case frameUnreadable(FrameID, cause: String, advice: String?)
  /// A time of the index is further from zero than `EventKey.nanosecondsMax`.
  case timeOutOfRange(FrameID, nanoseconds: Int64)
  /// The same for an event of the device.
  case eventTimeOutOfRange(ordinal: Int, nanoseconds: Int64)
  /// A strict tape has no cost of a stage for a frame, or for an item of it.
  case costMissing(node: String, frame: FrameID, item: Int?, tape: String, detail: String?)
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

  /// - Parameter error: What prevented the time plane from deciding.
  init(_ error: DecisionError) {
    switch error {
    case .endlessInstant(let nanoseconds, let node):
      self = .endlessInstant(nanoseconds: nanoseconds, node: node)
    case .costMissing(let node, let frame, let item, let tape, let detail):
      self = .costMissing(node: node, frame: frame, item: item, tape: tape, detail: detail)
    }
  }

  public var code: String {
    switch self {
    case .unboundSource: "runtime.source.unbound"
    case .noSuchTrack: "runtime.source.noSuchTrack"
    case .sameTrack: "runtime.source.sameTrack"
    case .unknownSwapNode: "runtime.swap.unknownNode"
    case .endlessInstant: "runtime.core.endlessInstant"
    case .stuck: "runtime.core.stuck"
    case .frameUnreadable: "runtime.source.frameUnreadable"
    case .timeOutOfRange: "runtime.source.timeOutOfRange"
    case .eventTimeOutOfRange: "runtime.source.eventTimeOutOfRange"
    case .costMissing: "runtime.cost.missing"
    case .interrupted: "runtime.run.interrupted"
    case .badOption: "runtime.run.badOption"
    case .notLive: "runtime.live.ownFrames"
    case .swapRefused: "runtime.swap.refused"
    case .badExternalEvent: "runtime.live.badEvent"
    case .strayExternalEvent: "runtime.live.strayEvent"
    case .hung: "runtime.stage.hung"
    case .noThread: "runtime.memory.noThread"
    }
  }

  public var message: String {
    switch self {
    case .unboundSource(let node): "the source '\(node)' has no session to read"
    case .noSuchTrack(let node, let track, _): "'\(node)' reads track \(track), which is not there"
    case .sameTrack(let nodes, let track):
      "the sources '\(nodes.joined(separator: "' and '"))' both read track \(track)"
    case .unknownSwapNode(let node, _): "a swap names the node '\(node)', which is not there"
    case .endlessInstant(let nanoseconds, let node):
      "virtual time stands still at \(nanoseconds) ns: a loop without delay through '\(node)'"
    case .stuck(let explanation): "nothing can move any more: \(explanation)"
    case .frameUnreadable(let id, _, _): "frame \(id) cannot be read as it was recorded"
    case .timeOutOfRange(let id, let nanoseconds):
      "frame \(id) has an impossible time of \(nanoseconds) ns"
    case .eventTimeOutOfRange(let ordinal, let nanoseconds):
      "the device event \(ordinal) has an impossible time of \(nanoseconds) ns"
    case .costMissing(let node, _, let item, let tape, _):
      "the tape \(tape) has no cost of '\(node)'" + (item.map { " for item \($0)" } ?? "")
    case .interrupted: "the run was interrupted"
    case .badOption(let detail): detail
    case .notLive(let node): "the source '\(node)' brings its own frames: it cannot run live"
    case .swapRefused(let node, let code):
      "the new stage cannot take the place of '\(node)' [\(code)]"
    case .badExternalEvent(let ordinal, let detail):
      "the external event \(ordinal) cannot be read: \(detail)"
    case .strayExternalEvent(let ordinal, let detail):
      "the external event \(ordinal) does not fit: \(detail)"
    case .hung(let node, _, let seconds):
      "'\(node)' has not come back for \(Self.text(seconds))"
    case .noThread(let name, _): "the system gives no thread for \(name)"
    }
  }

  public var cause: String? {
    switch self {
    case .frameUnreadable(_, let cause, _), .noThread(_, let cause): cause
    case .costMissing(_, _, _, _, let detail): detail
    default: nil
    }
  }

  public var place: Place? {
    switch self {
    case .frameUnreadable(let id, _, _), .timeOutOfRange(let id, _),
      .costMissing(_, let id, _, _, _), .hung(_, let id, _):
      Place(frame: id)
    default: nil
    }
  }

  public var advice: String? {
    switch self {
    case .unboundSource: "Name a session: retake replay SESSION --pipeline P"
    case .noSuchTrack(_, _, let available):
      available.isEmpty
        ? "The session has no video track"
        : "It has track " + available.map(String.init).joined(separator: ", ")
    case .sameTrack: "Let one source lead to both branches, or choose another track"
    case .unknownSwapNode(let node, let nodes): Suggestion.advice(for: node, among: nodes)
    case .endlessInstant: "Give a stage of the loop a cost"
    case .frameUnreadable(_, _, let advice): advice
    case .timeOutOfRange, .eventTimeOutOfRange, .badExternalEvent:
      "Examine the session: retake session doctor SESSION"
    case .costMissing:
      "Draw it from the tape's other costs: leave out --strict-costs; or write a tape that has it: "
        + "retake replay SESSION --pipeline P --write-tape FILE"
    case .hung(_, _, let seconds):
      "If it is only slow, wait longer: --watchdog \(Int((10 * seconds).rounded(.up))). If not, "
        + "look where it hangs: retake replay … --workers 0 --watchdog 0 in a debugger"
    case .notLive: "Write a source of kind 'session'"
    case .swapRefused: "Give a stage with the same input and output; the old one continues"
    case .strayExternalEvent:
      "Its pipeline may be another one: leave out --pipeline to take the recorded one"
    case .noThread: "Give it more memory or threads (ulimit -v, ulimit -u), or end other programs"
    case .stuck, .interrupted, .badOption: nil
    }
  }

  private static func text(_ seconds: Double) -> String {
    seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
  }
}
