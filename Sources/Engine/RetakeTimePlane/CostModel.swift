package import RetakeCore
package import RetakeGraph

/// The only source of the virtual durations of services, and of their origins. It uses integers
/// only, and returns the same duration for the same service in every run.
package struct CostModel: Sendable {
  /// One call of a stage's body.
  package struct Service: Hashable, Sendable {
    /// Index in the plan.
    package var node: Int
    package var frame: FrameID
    /// −1 for the frame itself.
    package var item: Int
    /// The number of the frame's items in this run; `nil` outside a forEach.
    package var itemCount: Int?
    /// The number of frames in its batch; 0 outside of a batch.
    package var batchCount = 0
    /// Virtual time at which it begins, in nanoseconds.
    package var time: Int64
    /// The declared cost of the stage that a swap put in the node's place; `nil` without a swap.
    package var swapped: Cost??
    /// The device's thermal state at that time; `nil` if it is not known.
    package var thermal: ThermalState?

    package init(
      node: Int, frame: FrameID, item: Int = -1, itemCount: Int? = nil, time: Int64
    ) {
      self.node = node
      self.frame = frame
      self.item = item
      self.itemCount = itemCount
      self.time = time
    }
  }

  package enum Origin: Hashable, Sendable {
    /// In `every-frame`, services have no cost.
    case free
    case recorded
    /// Declared, or drawn from quantiles.
    case modelled
  }

  package struct Answer: Hashable, Sendable {
    package var nanoseconds: Int64
    package var origin: Origin
  }

  package let seed: UInt64
  private let isFree: Bool
  private let nodes: [CostNode]
  private let timingsName: String?
  private let isStrict: Bool
  private let profile: DeviceProfile?
  private let scale: DecimalRatio
  private let isScaled: Bool
  /// By node; see `GraphPlan.frameBytes`. Empty counts as no bytes.
  package var frameBytes: [Int] = []
  /// By node, computed on demand.
  private var quantiles: [(p50: Int64, p99: Int64)?]

  /// All costs are zero: the mode `every-frame`.
  package static let zero = CostModel(seed: 0, isFree: true)

  /// The costs that the pipeline declares; nodes without a declared cost have a duration of zero.
  package static func declared(seed: UInt64) -> CostModel {
    CostModel(seed: seed, isFree: false)
  }

  /// The costs of one run.
  /// - Parameter isFree: Whether all costs are zero: the mode `every-frame`.
  package init(plan: GraphPlan, seed: UInt64, isFree: Bool, costs: RunCosts) {
    self.init(seed: seed, isFree: isFree, nodes: plan.costNodes(costs), costs: costs)
  }

  private init(
    seed: UInt64, isFree: Bool, nodes: [CostNode] = [], costs: RunCosts = .declared
  ) {
    self.seed = seed
    self.isFree = isFree
    self.nodes = nodes
    timingsName = costs.timings?.name
    isStrict = costs.isStrict
    profile = costs.profile
    scale = costs.scale
    isScaled = profile != nil || scale != .one
    quantiles = nodes.map { _ in nil }
  }

  /// - Throws: `DecisionError.costMissing` for a cost that strict timings do not have.
  package mutating func answer(_ service: Service) throws(DecisionError) -> Answer {
    // serve-cost: `every-frame` asks neither the timings nor the profile.
    guard !isFree else { return Answer(nanoseconds: 0, origin: .free) }
    var answer = try unscaled(service)
    guard isScaled else { return answer }
    // serve-cost: scaled last, so a profile has the same effect on recorded and declared costs.
    answer.nanoseconds = DecimalRatio.scale(
      answer.nanoseconds, by: nodes[service.node].scale, scale,
      profile?.thermalScale(at: service.time) ?? .one,
      profile?.scale(in: service.thermal) ?? .one, atMost: Cost.nanosecondsMax)
    return answer
  }

  private mutating func unscaled(_ service: Service) throws(DecisionError) -> Answer {
    let node = nodes[service.node]
    // serve-cost: the timings' cost, then a draw from its quantiles, then the declared cost.
    // Timings comes first even for a stage that was swapped in.
    if let timingsName {
      if let nanoseconds = recorded(service) {
        return Answer(nanoseconds: nanoseconds, origin: .recorded)
      }
      guard !isStrict else {
        throw .costMissing(
          node: node.id, frame: service.frame, item: service.item < 0 ? nil : service.item,
          timings: timingsName, detail: itemDetail(service))
      }
      if let drawn = drawn(service) { return Answer(nanoseconds: drawn, origin: .modelled) }
    }
    let cost = service.swapped ?? node.declared
    if cost == nil, let profile, frameBytes.indices.contains(service.node) {
      // serve-cost: a stage that makes a frame has at least the duration of writing it.
      let copy = profile.copyNanoseconds(bytes: frameBytes[service.node])
      return Answer(nanoseconds: copy, origin: .modelled)
    }
    let declared = nanoseconds(
      of: cost, nodeHash: node.hash, sequence: service.frame.sequence,
      item: service.item)
    // batch-cost: the sum is at most two hours and 64 costs of an hour, so it cannot overflow.
    let batch = Int64(service.batchCount) * node.perFrame
    return Answer(nanoseconds: min(declared + batch, Cost.nanosecondsMax), origin: .modelled)
  }

  // MARK: The timings

  /// Whether a batch of the node has a cost for each of its frames, instead of one.
  package func hasTimings(of node: Int) -> Bool {
    nodes.indices.contains(node) && nodes[node].column != nil
  }

  private func recorded(_ service: Service) -> Int64? {
    // With another number of items, an index may be another item, so no recorded cost applies.
    guard service.itemCount.map({ $0 == recordedItems(service) }) ?? true else { return nil }
    return nodes[service.node].column?.nanoseconds(of: service.frame, item: service.item)
  }

  /// The frame's items in the timings. Items that a stage of the same body has no cost for had
  /// failed before that stage.
  private func recordedItems(_ service: Service) -> Int {
    nodes[service.node].sameBody.reduce(0) {
      max($0, nodes[$1].column?.itemCount(of: service.frame) ?? 0)
    }
  }

  private func itemDetail(_ service: Service) -> String? {
    guard let count = service.itemCount else { return nil }
    return "the frame has \(counted(count, "item")), and \(recordedItems(service)) in the timings"
  }

  /// A cost from the timings' own quantiles of the stage; `nil` if the timings have no cost of the
  /// stage.
  private mutating func drawn(_ service: Service) -> Int64? {
    let node = nodes[service.node]
    guard let column = node.column else { return nil }
    let (p50, p99) = quantiles[service.node] ?? column.quantiles()
    quantiles[service.node] = (p50, p99)
    guard p99 > 0 else { return 0 }
    let cost = QuantileTable.logNormal(
      p50: max(1, p50), p99: p99,
      bits: draw(node.hash, service.frame.sequence, service.item))
    return min(cost, Cost.nanosecondsMax)
  }

  // MARK: Declared costs

  package func nanoseconds(
    of cost: Cost?, nodeHash: UInt64, sequence: Int, item: Int
  ) -> Int64 {
    guard !isFree, let cost else { return 0 }
    switch cost {
    case .fixed(let duration): return duration.nanoseconds
    case .uniform(let low, let high):
      let span = UInt64(high.nanoseconds - low.nanoseconds) + 1
      let bits = draw(nodeHash, sequence, item)
      // The high half of the product scales the draw to the span, without floating point.
      return low.nanoseconds + Int64(bits.multipliedFullWidth(by: span).high)
    case .quantiles(let p50, let p99):
      return QuantileTable.logNormal(
        p50: p50.nanoseconds, p99: p99.nanoseconds, bits: draw(nodeHash, sequence, item))
    }
  }

  private func draw(_ nodeHash: UInt64, _ sequence: Int, _ item: Int) -> UInt64 {
    Draw.bits(seed: seed, node: nodeHash, sequence: sequence, item: item, purpose: .cost)
  }
}

/// The properties of a node that determine its costs.
struct CostNode: Sendable {
  var id: String
  var hash: UInt64
  var declared: Cost?
  /// In nanoseconds, for each frame of a batch.
  var perFrame: Int64
  var column: TimingsColumn?
  /// The device profile's factor for this stage.
  var scale: DecimalRatio
  /// The nodes of the same forEach body, including this one.
  var sameBody: [Int]
}

extension GraphPlan {
  /// By node.
  func costNodes(_ costs: RunCosts) -> [CostNode] {
    nodes.indices.map { index in
      let node = nodes[index]
      return CostNode(
        id: node.id, hash: node.hash, declared: node.cost,
        perFrame: node.costPerFrameNanoseconds,
        column: costs.timings?.column(of: node.id),
        scale: costs.profile?.scale(of: node.id) ?? .one,
        sameBody: sameBody(as: index))
    }
  }

  /// The nodes of a forEach `x` are named `x/NODE`.
  private func sameBody(as index: Int) -> [Int] {
    let parts = nodes[index].id.split(separator: "/", maxSplits: 1)
    guard parts.count == 2 else { return [index] }
    return nodes.indices.filter { nodes[$0].id.hasPrefix("\(parts[0])/") }
  }
}
