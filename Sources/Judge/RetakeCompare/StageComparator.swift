import RetakeCore

/// Finds the stages whose output differs although their inputs are equal.
///
/// A stateful stage is tainted from its first differing input, or from the first frame that only
/// one run passed to it. A later difference in its output is a downstream difference, and so is
/// every later difference of a stage that is already a root.
package struct StageComparator {
  /// A node that both runs have.
  private struct Stage {
    var column: StageColumn
    var golden: Int
    var actual: Int
    /// Indices of stages; empty for a source.
    var inputs: [Int]
    /// Set if the inputs are different nodes than in the golden: the root of everything that
    /// differs.
    var rewired: Int?
    /// The root that the state has followed from since an earlier frame.
    var taint: Int?
    /// The stage's own root.
    var root: Int?
  }

  package private(set) var log: FindingLog
  /// Frames with a differing cell.
  package private(set) var differingFrames = 0
  /// Frames that both sides have.
  package private(set) var comparedFrames = 0
  private var stages: [Stage] = []
  /// The stages that each sink depends on, by index.
  private var sinks: [(name: String, stages: [Int])] = []

  /// - Parameter sinks: The nodes that each sink depends on, if they are known.
  package init(
    golden: [StageColumn], actual: [StageColumn], sinks: [String: [String]] = [:], log: FindingLog
  ) {
    self.log = log
    self.log.causes.hasStageDigests = true
    notePresence(golden, actual)
    for (index, column) in golden.enumerated() {
      guard let other = actual.firstIndex(where: { $0.node == column.node }) else { continue }
      let inputs = column.inputs.compactMap { name in
        stages.firstIndex { $0.column.node == name }
      }
      var stage = Stage(column: column, golden: index, actual: other, inputs: inputs)
      if column.inputs != actual[other].inputs {
        stage.rewired =
          rewiring(of: column, actual[other])
          ?? self.log.causes.add(RootCause(stage: column.node, why: .inputsRewired))
      }
      // If the stage remembers in one run only, an earlier difference can still explain a later
      // one.
      stage.column.isStateful = column.isStateful || actual[other].isStateful
      stages.append(stage)
    }
    // With a single sink, everything that differs is before it.
    guard sinks.count > 1 else { return }
    for (name, inputs) in sinks.sorted(by: { $0.key < $1.key }) {
      var reached = Set(inputs)
      // Columns are in topological order, so one pass from the end finds everything before the
      // sink.
      for stage in stages.reversed() where reached.contains(stage.column.node) {
        reached.formUnion(stage.inputs.map { stages[$0].column.node })
      }
      let indices = stages.indices.filter { reached.contains(stages[$0].column.node) }
      self.sinks.append((name, indices))
      self.log.causes.setSink(name)
    }
  }

  private mutating func notePresence(_ golden: [StageColumn], _ actual: [StageColumn]) {
    for column in golden where !actual.contains(where: { $0.node == column.node }) {
      log.add(
        Finding(.nodeRemoved, node: column.node, message: "the node \(column.node) is gone"))
    }
    for column in actual where !golden.contains(where: { $0.node == column.node }) {
      log.add(Finding(.nodeAdded, node: column.node, message: "the node \(column.node) is new"))
    }
  }

  /// The earlier root that explains other inputs: an input that only one run has, else another
  /// change of the nodes. A root of another kind, such as a decision, connects no nodes.
  private func rewiring(of golden: StageColumn, _ actual: StageColumn) -> Int? {
    let rootCauses = log.causes.rootCauses
    let changed = Set(golden.inputs).symmetricDifference(actual.inputs)
    let isOneSided = { (root: RootCause) in root.why == .nodeAdded || root.why == .nodeRemoved }
    return rootCauses.firstIndex { isOneSided($0) && $0.stage.map(changed.contains) ?? false }
      ?? rootCauses.firstIndex { isOneSided($0) || $0.why == .inputsRewired }
  }

  /// Compares the rows of one frame.
  package mutating func compare(golden: StageRow, actual: StageRow) {
    comparedFrames += 1
    let packetDiffers = golden.packet != actual.packet
    // The root of each stage's difference at this frame; `nil` if its cells are equal.
    var causes = [Int?](repeating: nil, count: stages.count)
    var deepest: Int?
    for index in stages.indices {
      let stage = stages[index]
      let left = golden.cells[stage.golden]
      let right = actual.cells[stage.actual]
      var inputCause = stage.inputs.lazy.compactMap { causes[$0] }.first ?? stage.rewired
      // The packet is the input of a source.
      if stage.inputs.isEmpty && packetDiffers {
        inputCause = inputCause ?? packetRootCause(golden.frame)
      }
      if left != right {
        let cause =
          // An input that differs at this frame explains it better than an input that the state
          // remembers.
          inputCause ?? stage.taint
          ?? ownRootCause(
            of: index, golden.frame, served: left != .notRun && right != .notRun,
            equal: stages.indices.prefix(index).filter { causes[$0] == nil })
        causes[index] = cause
        deepest = cause
      }
      if stage.column.isStateful && stage.taint == nil {
        // A stage that received another input has stored it, even if its output is equal so far.
        stages[index].taint = causes[index] ?? (left == .notRun ? nil : inputCause)
      }
    }
    if let deepest {
      differingFrames += 1
      log.causes.set(deepest, for: golden.frame)
      for sink in sinks {
        // The deepest stage that differs is the nearest to the sink.
        let cause = sink.stages.last { causes[$0] != nil }.flatMap { causes[$0] }
        if let cause { log.causes.set(cause, for: golden.frame, sink: sink.name) }
      }
    }
  }

  /// Handles a frame that only one side has: from now on, stateful stages have received different
  /// frames.
  package mutating func compareOneSided(_ row: StageRow, isLost: Bool) {
    let root = log.causes.root(
      RootCause(frame: row.frame, why: isLost ? .frameLost : .frameInserted))
    log.causes.set(root, for: row.frame)
    for sink in sinks { log.causes.set(root, for: row.frame, sink: sink.name) }
    for index in stages.indices where stages[index].column.isStateful {
      stages[index].taint = stages[index].taint ?? root
    }
  }

  private mutating func packetRootCause(_ frame: FrameID) -> Int {
    log.causes.root(RootCause(frame: frame, stage: "packet", why: .outputDiffers))
  }

  private mutating func ownRootCause(
    of index: Int, _ frame: FrameID, served: Bool, equal: [Int]
  ) -> Int {
    // An earlier decision, and not the stage, determines that the stage ran in one run only.
    if !served, let decision = log.causes.decisionRootCause { return decision }
    if let root = stages[index].root { return root }
    let root = log.causes.add(
      RootCause(
        frame: frame, stage: stages[index].column.node,
        why: served ? .outputDiffers : .ranOnOneSide,
        equalBefore: equal.map { stages[$0].column.node }))
    stages[index].root = root
    return root
  }
}
