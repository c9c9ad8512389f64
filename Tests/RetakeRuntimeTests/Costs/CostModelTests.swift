import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeRuntime
@testable import RetakeTimePlane

@Suite struct CostModelTests {
  private static let pipeline = Pipeline.named("costs")
    .source(Nodes.source(.at(rate: 30, count: 1))).stage(Brightness(), id: "light")
    .cost(.fixed(.milliseconds(7))).stage(Counter(), id: "counter").sink(Nodes.sink(), id: "sink")

  /// The model of `light` (node 1) and `counter` (node 2).
  private func model(
    _ rows: [(node: String, sequence: Int, item: Int, nanoseconds: Int64)]? = nil,
    mode: RunOptions.Mode = .simulate, change: (inout RunCosts) -> Void = { _ in }
  ) throws -> CostModel {
    var options = RunOptions(mode: mode, seed: 5)
    options.costs.timings = try rows.map { try RecordedTimings.of($0) }
    change(&options.costs)
    return CostModel(plan: try GraphPlan(Self.pipeline), options)
  }

  private func service(
    _ sequence: Int, of node: Int = 1, item: Int = -1, itemCount: Int? = nil, time: Int64 = 0
  ) -> CostModel.Service {
    CostModel.Service(
      node: node, frame: FrameID(track: 0, sequence: sequence), item: item, itemCount: itemCount,
      time: time)
  }

  private func ratio(_ text: String) throws -> DecimalRatio {
    try #require(DecimalRatio(parsing: text))
  }

  @Test func `every-frame is free, and asks no timings`() throws {
    var free = try model([("light", 0, -1, 9)], mode: .everyFrame) { $0.isStrict = true }
    #expect(try free.cost(of: service(0)) == .init(nanoseconds: 0, origin: .free))
    #expect(try free.cost(of: service(1)) == .init(nanoseconds: 0, origin: .free))
  }

  @Test func `a recorded cost stands before the declared one`() throws {
    var costs = try model([("light", 0, -1, 9), ("light", 1, -1, 0)])
    #expect(try costs.cost(of: service(0)) == .init(nanoseconds: 9, origin: .recorded))
    #expect(try costs.cost(of: service(1)) == .init(nanoseconds: 0, origin: .recorded))
  }

  @Test func `what the timings lack is drawn from its quantiles of that stage`() throws {
    var costs = try model((0..<100).map { ("light", $0, -1, Int64($0) * 1_000 + 1_000) })
    let hash = Draw.hash(ofNode: "light")
    for sequence in 100..<200 {
      let bits = Draw.bits(seed: 5, node: hash, sequence: sequence, item: -1, purpose: .cost)
      let drawn = QuantileTable.logNormal(p50: 50_000, p99: 99_000, bits: bits)
      #expect(
        try costs.cost(of: service(sequence)) == .init(nanoseconds: drawn, origin: .modelled))
    }
  }

  @Test func `a stage that the timings do not have costs what is declared`() throws {
    var costs = try model([("counter", 0, -1, 9)])
    #expect(try costs.cost(of: service(0)) == .init(nanoseconds: 7_000_000, origin: .modelled))
    costs = try model([("light", 0, -1, 9)])
    #expect(try costs.cost(of: service(0, of: 2)) == .init(nanoseconds: 0, origin: .modelled))
  }

  @Test func `costs of nothing but zero are drawn as zero, and never as an endless one`() throws {
    var costs = try model([("light", 0, -1, 0), ("light", 1, -1, 0)])
    #expect(try costs.cost(of: service(7)).nanoseconds == 0)
    costs = try model(
      [("light", 0, -1, 0), ("light", 1, -1, 0), ("light", 2, -1, Cost.nanosecondsMax)])
    for sequence in 3..<2_000 {
      let drawn = try costs.cost(of: service(sequence)).nanoseconds
      #expect((0...Cost.nanosecondsMax).contains(drawn))
    }
  }

  @Test func `a frame with another number of items is drawn as a whole`() throws {
    var costs = try model([
      ("light", 0, 0, 100), ("light", 0, 1, 300), ("light", 0, 2, 200), ("light", 1, 0, 100),
    ])
    #expect(try costs.cost(of: service(0, item: 1, itemCount: 3)).nanoseconds == 300)
    #expect(try costs.cost(of: service(0, item: 1, itemCount: 3)).origin == .recorded)
    for count in [1, 2, 4] {
      #expect(try costs.cost(of: service(0, item: 0, itemCount: count)).origin == .modelled)
    }
    #expect(try costs.cost(of: service(1, item: 0, itemCount: 1)).origin == .recorded)
    #expect(try costs.cost(of: service(2, item: 0, itemCount: 1)).origin == .modelled)
  }

  @Test func `strict timings name the stage, the frame and the item that they lack`() throws {
    var costs = try model([("light", 0, -1, 9), ("light", 1, 0, 9)]) { $0.isStrict = true }
    #expect(try costs.cost(of: service(0)).nanoseconds == 9)
    let missing = #expect(throws: RuntimeError.self) { try costs.cost(of: service(4)) }
    #expect(missing?.code == "runtime.cost.missing")
    #expect(missing?.place?.frame == FrameID(track: 0, sequence: 4))
    #expect(missing?.message == "the timings test.timings have no cost of 'light'")
    #expect(missing?.advice?.contains("--write-timings") == true)
    let changed = #expect(throws: RuntimeError.self) {
      try costs.cost(of: service(1, item: 0, itemCount: 3))
    }
    #expect(changed?.message == "the timings test.timings have no cost of 'light' for item 0")
    #expect(changed?.cause == "the frame has 3 items, and 1 in the timings")
    #expect(throws: RuntimeError.self) { try costs.cost(of: service(0, of: 2)) }
  }

  @Test func `a profile scales recorded, drawn and declared costs by stage`() throws {
    let half = try ratio("0.5")
    let profile = DeviceProfile(name: "p", scale: ["*": try ratio("3"), "light": half])
    var costs = try model([("light", 0, -1, 101), ("counter", 0, -1, 10)]) { $0.profile = profile }
    #expect(try costs.cost(of: service(0)) == .init(nanoseconds: 51, origin: .recorded))
    #expect(try costs.cost(of: service(0, of: 2)) == .init(nanoseconds: 30, origin: .recorded))
    #expect(try costs.cost(of: service(1, of: 2)).origin == .modelled)
    costs = try model { $0.profile = profile }
    #expect(try costs.cost(of: service(0)).nanoseconds == 3_500_000)
    costs = try model {
      $0.profile = profile
      $0.scale = half
    }
    #expect(try costs.cost(of: service(0)).nanoseconds == 1_750_000)
  }

  @Test func `heat scales what begins after it, step by step`() throws {
    let profile = DeviceProfile(
      name: "p",
      thermal: [
        .init(after: .seconds(1), scale: try ratio("1.5")),
        .init(after: .seconds(2), scale: try ratio("0.1")),
      ])
    var costs = try model { $0.profile = profile }
    let second: Int64 = 1_000_000_000
    let found = try [-1, 0, second - 1, second, 2 * second - 1, 2 * second, .max].map {
      try costs.cost(of: service(0, time: $0)).nanoseconds
    }
    #expect(
      found == [7_000_000, 7_000_000, 7_000_000, 10_500_000, 10_500_000, 700_000, 700_000])
  }

  @Test func `a scaled cost is an hour at most`() throws {
    let profile = DeviceProfile(name: "p", scale: ["*": try ratio("1000")])
    var costs = try model([("light", 0, -1, Cost.nanosecondsMax)]) { $0.profile = profile }
    #expect(try costs.cost(of: service(0)).nanoseconds == Cost.nanosecondsMax)
  }
}
