import RetakeCore

/// The root causes of a comparison, and which of them each frame's values follow from.
package struct CauseLog: Sendable {
  package private(set) var roots: [RootCause] = []
  /// For frames with a stage digest that differs: the root of the deepest such stage.
  private var rootOfFrame: [FrameID: Int] = [:]
  /// The first differing decision; later ones, and what follows from them, are its echoes.
  package private(set) var decisionRoot: Int?
  /// Both sides had stage digests, so an unexplained difference is made at the sink.
  package var hasStageDigests = false

  package init() {}

  package mutating func add(_ root: RootCause) -> Int {
    roots.append(root)
    return roots.count - 1
  }

  /// The root with the same stage and reason, or a new one.
  package mutating func root(_ root: RootCause) -> Int {
    roots.firstIndex { $0.stage == root.stage && $0.why == root.why } ?? add(root)
  }

  package mutating func setDecisionRoot(_ root: RootCause) {
    decisionRoot = decisionRoot ?? add(root)
  }

  package mutating func set(_ root: Int, for frame: FrameID) {
    rootOfFrame[frame] = root
  }

  package func root(of frame: FrameID) -> Int? { rootOfFrame[frame] }

  /// Finds the cause of a finding, makes one where none is known, and counts it there.
  package mutating func attribute(_ finding: inout Finding) {
    let index = cause(of: finding)
    finding.root = index
    roots[index].findings += 1
    roots[index].largest = max(roots[index].largest, finding.magnitude ?? 0)
    if let frame = finding.frame, let first = roots[index].frame, frame != first {
      roots[index].echoes += 1
    }
    if roots[index].time == nil, finding.frame == roots[index].frame {
      roots[index].time = finding.time
    }
  }

  private mutating func cause(of finding: Finding) -> Int {
    switch finding.kind {
    case .frameLost: return root(of: finding, why: .frameLost)
    case .frameInserted: return root(of: finding, why: .frameInserted)
    case .nodeAdded: return root(RootCause(stage: finding.node, why: .nodeAdded))
    case .nodeRemoved: return root(RootCause(stage: finding.node, why: .nodeRemoved))
    case .sinkAdded, .sinkRemoved, .classesChanged:
      return root(RootCause(stage: finding.node, why: .sinkChanged))
    case .budget: return roots.isEmpty ? root(RootCause(why: .budget)) : 0
    case .drift: return root(RootCause(stage: finding.node, why: .drift))
    case .decisionAdded, .decisionRemoved, .decisionMoved, .decisionChanged, .decisionsDiffer:
      if let known = finding.frame.flatMap({ rootOfFrame[$0] }) { return known }
      return decisionRoot ?? root(of: finding, why: .decisionDiffers)
    case .fateChanged:
      if let known = finding.frame.flatMap({ rootOfFrame[$0] }) { return known }
      return decisionRoot ?? root(of: finding, why: .decisionDiffers)
    default:
      if let known = finding.frame.flatMap({ rootOfFrame[$0] }) { return known }
      if hasStageDigests { return root(of: finding, why: .outputDiffers) }
      if let decisionRoot { return decisionRoot }
      return roots.indices.last { roots[$0].why == .seenAtSink || roots[$0].why == .frameLost }
        ?? root(of: finding, why: .seenAtSink)
    }
  }

  private mutating func root(of finding: Finding, why: RootCause.Why) -> Int {
    let stage = why == .frameLost || why == .frameInserted ? nil : finding.node
    return root(RootCause(frame: finding.frame, time: finding.time, stage: stage, why: why))
  }
}
