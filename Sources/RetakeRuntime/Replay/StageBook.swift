import RetakeGraph

/// The bodies of a run's nodes: which stage works on a frame depends on the swaps that were in
/// force when it arrived.
struct StageBook {
  /// One stage of a node in one run.
  struct Entry {
    var stage: AnyStage
    var cost: Cost?
    /// A stateful stage's memory.
    var instance: (any StageInstance)?
    /// The last call of a stateful stage.
    var chainTail: ValueFuture?

    init(_ stage: AnyStage, cost: Cost?) {
      self.stage = stage
      self.cost = cost
      if case .stateful(let make) = stage.body { instance = make() }
    }
  }

  /// By node, in the order in which they came into force.
  private var entries: [[Entry]]
  /// The node of each swap in force.
  private var swapped: [Int] = []

  init(_ plan: GraphPlan) {
    entries = plan.nodes.map { [Entry($0.stage, cost: $0.cost)] }
  }

  mutating func swap(node: Int, to stage: AnyStage, cost: Cost?) {
    swapped.append(node)
    entries[node].append(Entry(stage, cost: cost))
  }

  /// The place of the stage that works on the frames of an epoch.
  func version(of node: Int, epoch: Int) -> Int {
    swapped.isEmpty ? 0 : swapped[..<epoch].count { $0 == node }
  }

  subscript(node: Int, version: Int) -> Entry {
    get { entries[node][version] }
    _modify { yield &entries[node][version] }
  }

  /// What is called for the frames of an epoch.
  func code(_ node: Int, epoch: Int) -> BodyCall.Code {
    let version = version(of: node, epoch: epoch)
    if let instance = entries[node][version].instance { return .stateful(instance) }
    guard case .pure(let body) = entries[node][version].stage.body else {
      preconditionFailure("only stages are called")
    }
    return .pure(body)
  }

  func stage(_ node: Int, epoch: Int) -> AnyStage {
    entries[node][version(of: node, epoch: epoch)].stage
  }

  func cost(_ node: Int, epoch: Int) -> Cost? {
    entries[node][version(of: node, epoch: epoch)].cost
  }
}
