package import RetakeCore

/// The root causes of a comparison, and the root cause that each frame's values follow from.
package struct CauseLog: Sendable {
  package private(set) var rootCauses: [RootCause] = []
  /// For frames with a differing stage digest: the root of the deepest differing stage.
  private var rootCauseOfFrame = FrameRootCauses()
  /// The same for the stages that a sink depends on, for each sink whose stages are known.
  private var rootCauseOfFrameBySink: [String: FrameRootCauses] = [:]
  /// The first differing decision; later differing decisions and their effects are its downstream
  /// differences.
  package private(set) var decisionRootCause: Int?
  /// Whether both sides had stage digests. An unexplained difference then arises at the sink.
  package var hasStageDigests = false

  package init() {}

  package mutating func add(_ root: RootCause) -> Int {
    rootCauses.append(root)
    return rootCauses.count - 1
  }

  /// The index of the root with the same stage and reason; adds the root if there is no such root
  /// yet.
  package mutating func root(_ root: RootCause) -> Int {
    // Later frames with the same cause are its downstream differences, and are not causes of their
    // own.
    rootCauses.firstIndex { $0.stage == root.stage && $0.why == root.why } ?? add(root)
  }

  package mutating func setDecisionRootCause(_ root: RootCause) {
    decisionRootCause = decisionRootCause ?? add(root)
  }

  package mutating func set(_ root: Int, for frame: FrameID) {
    rootCauseOfFrame.set(root, for: frame)
  }

  /// Registers a sink. Its results follow only from the stages that it depends on.
  package mutating func setSink(_ sink: String) { rootCauseOfFrameBySink[sink] = FrameRootCauses() }

  package mutating func set(_ root: Int, for frame: FrameID, sink: String) {
    rootCauseOfFrameBySink[sink]?.set(root, for: frame)
  }

  package func root(of frame: FrameID) -> Int? { rootCauseOfFrame[frame] }

  private func root(of finding: Finding) -> Int? {
    guard let frame = finding.frame else { return nil }
    // `rootCauseOfFrame` is not used then: its root may be in a branch that does not lead to this
    // sink.
    if let sink = finding.node, let rootCauses = rootCauseOfFrameBySink[sink] {
      return rootCauses[frame]
    }
    return rootCauseOfFrame[frame]
  }

  /// Class names belong to a sink, not to a frame: they follow from the first difference that
  /// reaches the sink.
  private func firstRootCause(before sink: String) -> Int? {
    (rootCauseOfFrameBySink[sink] ?? rootCauseOfFrame).first
  }

  /// Sets the origin of each root, when everything is known about the two runs.
  package mutating func setOrigins(_ origin: (RootCause) -> RootCause.Origin?) {
    for index in rootCauses.indices { rootCauses[index].origin = origin(rootCauses[index]) }
  }

  /// Finds the cause of a finding, or creates one, and counts the finding there.
  package mutating func attribute(_ finding: inout Finding) {
    let index = cause(of: finding)
    finding.root = index
    rootCauses[index].findings += 1
    rootCauses[index].largest = max(rootCauses[index].largest, finding.magnitude ?? 0)
    if let frame = finding.frame, let first = rootCauses[index].frame, frame != first {
      rootCauses[index].downstream += 1
    }
    // Stage digests have no times, so the first finding of the root's frame provides it.
    if rootCauses[index].time == nil, finding.frame == rootCauses[index].frame {
      rootCauses[index].time = finding.time
    }
  }

  private mutating func cause(of finding: Finding) -> Int {
    switch finding.kind {
    case .frameLost: return root(of: finding, why: .frameLost)
    case .frameInserted: return root(of: finding, why: .frameInserted)
    case .nodeAdded: return root(RootCause(stage: finding.node, why: .nodeAdded))
    case .nodeRemoved: return root(RootCause(stage: finding.node, why: .nodeRemoved))
    case .classesChanged:
      if let sink = finding.node, let known = firstRootCause(before: sink) { return known }
      return root(RootCause(stage: finding.node, why: .sinkChanged))
    case .sinkAdded, .sinkRemoved:
      return root(RootCause(stage: finding.node, why: .sinkChanged))
    // An exceeded budget follows from the first root cause, and is a root cause only if there is no
    // other.
    case .budget: return rootCauses.isEmpty ? root(RootCause(why: .budget)) : 0
    case .drift:
      if let known = root(of: finding) { return known }
      return root(of: finding, why: .drift)
    // A gate may have decided by a value that differs, so the stage comes before the decision.
    case .decisionAdded, .decisionRemoved, .decisionMoved, .decisionChanged, .decisionsDiffer:
      if let known = finding.frame.flatMap({ rootCauseOfFrame[$0] }) { return known }
      return decisionRootCause ?? root(of: finding, why: .decisionDiffers)
    case .fateChanged:
      if let known = finding.frame.flatMap({ rootCauseOfFrame[$0] }) { return known }
      return decisionRootCause ?? root(of: finding, why: .decisionDiffers)
    default:
      if let known = root(of: finding) { return known }
      // No stage before the sink differs at this frame, so the difference begins at the sink.
      if hasStageDigests { return root(of: finding, why: .outputDiffers) }
      if let decisionRootCause { return decisionRootCause }
      // Without stage digests a later difference cannot be distinguished from a downstream
      // difference, so it joins the last root.
      return rootCauses.indices.last {
        rootCauses[$0].why == .seenAtSink || rootCauses[$0].why == .frameLost
      }
        ?? root(of: finding, why: .seenAtSink)
    }
  }

  private mutating func root(of finding: Finding, why: RootCause.Why) -> Int {
    // A frame that one run lacks was missing before its first stage.
    let stage = why == .frameLost || why == .frameInserted ? nil : finding.node
    return root(RootCause(frame: finding.frame, time: finding.time, stage: stage, why: why))
  }
}

/// The root of each frame that has one, stored as runs of frames: consecutive frames mostly have
/// the same root.
private struct FrameRootCauses: Sendable {
  private struct Run {
    var first: Int
    var last: Int
    var root: Int
  }

  /// By track, in increasing order.
  private var runs: [Int: [Run]] = [:]

  /// Frames must come in increasing order on each track; a frame that comes too late is ignored.
  mutating func set(_ root: Int, for frame: FrameID) {
    var track = runs[frame.track] ?? []
    // Removes the second reference to the array, so that it grows in place without a copy.
    runs[frame.track] = nil
    defer { runs[frame.track] = track }
    if let last = track.last, frame.sequence <= last.last + 1 {
      if frame.sequence == last.last, last.first == last.last {
        track[track.count - 1].root = root
        return
      }
      guard frame.sequence == last.last + 1 else { return }
      if last.root == root {
        track[track.count - 1].last = frame.sequence
        return
      }
    }
    track.append(Run(first: frame.sequence, last: frame.sequence, root: root))
  }

  /// The root of the first frame, on the lowest track that has one.
  var first: Int? { runs.keys.min().flatMap { runs[$0]?.first?.root } }

  subscript(frame: FrameID) -> Int? {
    guard let track = runs[frame.track] else { return nil }
    var (low, high) = (0, track.count)
    // Binary search: each round halves the range.
    while low < high {
      let middle = (low + high) / 2
      if track[middle].last < frame.sequence { low = middle + 1 } else { high = middle }
    }
    guard low < track.count, track[low].first <= frame.sequence else { return nil }
    return track[low].root
  }
}
