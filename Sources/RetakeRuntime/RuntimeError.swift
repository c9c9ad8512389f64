import RetakeCore

/// What can go wrong with a run as a whole. A failing stage is not among it: that is an outcome.
public enum RuntimeError: CodedError, Hashable {
  /// A source node was given no frames to read.
  case unboundSource(node: String)
  case noSuchTrack(node: String, track: Int, available: [Int])
  /// An instant of virtual time never gets quiet.
  case endlessInstant(nanoseconds: Int64, node: String)
  /// Frames are in flight and nothing can ever move again.
  case stuck(explanation: String)
  /// The stored frames are not what the index says, or cannot be read.
  case frameUnreadable(FrameID, cause: String, advice: String?)
  /// A time of the index is further from zero than `ArrivalSchedule.nanosecondsMax`.
  case timeOutOfRange(FrameID, nanoseconds: Int64)
  case interrupted
  case badOption(String)

  public var code: String {
    switch self {
    case .unboundSource: "runtime.source.unbound"
    case .noSuchTrack: "runtime.source.noSuchTrack"
    case .endlessInstant: "runtime.core.endlessInstant"
    case .stuck: "runtime.core.stuck"
    case .frameUnreadable: "runtime.source.frameUnreadable"
    case .timeOutOfRange: "runtime.source.timeOutOfRange"
    case .interrupted: "runtime.run.interrupted"
    case .badOption: "runtime.run.badOption"
    }
  }

  public var message: String {
    switch self {
    case .unboundSource(let node): "the source '\(node)' has no session to read"
    case .noSuchTrack(let node, let track, _): "'\(node)' reads track \(track), which is not there"
    case .endlessInstant(let nanoseconds, let node):
      "virtual time stands still at \(nanoseconds) ns: a loop without delay through '\(node)'"
    case .stuck(let explanation): "nothing can move any more: \(explanation)"
    case .frameUnreadable(let id, _, _): "frame \(id) cannot be read as it was recorded"
    case .timeOutOfRange(let id, let nanoseconds):
      "frame \(id) has an impossible time of \(nanoseconds) ns"
    case .interrupted: "the run was interrupted"
    case .badOption(let detail): detail
    }
  }

  public var cause: String? {
    guard case .frameUnreadable(_, let cause, _) = self else { return nil }
    return cause
  }

  public var place: Place? {
    switch self {
    case .frameUnreadable(let id, _, _), .timeOutOfRange(let id, _): return Place(frame: id)
    default: return nil
    }
  }

  public var advice: String? {
    switch self {
    case .unboundSource: "Name a session: retake replay SESSION --pipeline P"
    case .noSuchTrack(_, _, let available):
      available.isEmpty
        ? "The session has no video track"
        : "It has track " + available.map(String.init).joined(separator: ", ")
    case .endlessInstant: "Give a stage of the loop a cost"
    case .frameUnreadable(_, _, let advice): advice
    case .timeOutOfRange: "Examine the session: retake session doctor SESSION"
    case .stuck, .interrupted, .badOption: nil
    }
  }
}
