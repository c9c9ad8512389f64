import RetakeGraph

/// How long a pipeline's results depend on a frame that it received, or missed.
enum FrameMemory {
  /// For a stage that may remember every frame, such as a stateful program: about two seconds of a
  /// camera. Not a bound: such a stage may remember longer.
  static let unknownFrames = 60

  /// Number of frames with results after which the results are taken as independent of a missed
  /// frame; 0 for a pipeline without state.
  static func frames(of pipeline: Pipeline) -> Int {
    let stages = pipeline.nodes.map(\.stage)
    let roles = Set(stages.map(\.signature.role))
    guard roles.contains(.stateful) || roles.contains(.latest) else { return 0 }
    // The memories of a chain add up.
    let remembered = stages.filter { $0.signature.role == .stateful }.map(\.callsRemembered)
    let known = remembered.compactMap(\.self).reduce(0, +)
    // On a branch, a stage may have fewer calls than the sink has frames.
    let isChain = roles.isSubset(of: [.source, .pure, .stateful, .throttle, .sample, .sink])
    guard isChain, !remembered.contains(nil) else { return max(known, unknownFrames) }
    return known
  }
}
