import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeRuntime
@testable import RetakeTimePlane

/// The costs of the items of a forEach, in complete runs.
@Suite struct ItemCostTests {
  /// Four frames with 2, 3, 0 and 1 objects.
  private func pipeline(_ cost: Cost?, concurrency: Int = 1) -> Pipeline {
    Pipeline.people(
      [2, 3, 0, 1], frames: .at(rate: 10, count: 4),
      label: .label(nil).with {
        $0.cost = cost
        $0.concurrency = concurrency
      })
  }

  private static let items = ["0.0", "0.1", "1.0", "1.1", "1.2", "3.0"]

  /// The service time of each item, by `sequence.item`.
  private func durations(_ notes: Notes) -> [String: Int64] {
    var found: [String: Int64] = [:]
    for line in notes.lines where line.node == "people/label" {
      guard let frame = line.frame, let item = line.item else { continue }
      let sign: Int64 = line.kind == .start ? -1 : line.kind == .done ? 1 : 0
      found["\(frame.sequence).\(item)", default: 0] += sign * line.time
    }
    return found
  }

  /// Timings of 1 ms for each frame at `find`, and of some items at `people/label`.
  private func options(
    _ items: [(sequence: Int, item: Int, nanoseconds: Int64)], workers: Int = 1, seed: UInt64 = 5,
    isStrict: Bool = false
  ) throws -> RunOptions {
    var options = RunOptions(mode: .simulate, workers: workers, seed: seed)
    let finds = (0..<4).map { ("find", $0, -1, Int64(1_000_000)) }
    options.costs.timings = try RecordedTimings.of(
      finds + items.map { ("people/label", $0.sequence, $0.item, $0.nanoseconds) })
    options.costs.isStrict = isStrict
    return options
  }

  @Test(arguments: [1, 3])
  func `a fixed cost is each item's own`(concurrency: Int) throws {
    let (notes, outcome) = try pipeline(.fixed(.milliseconds(4)), concurrency: concurrency).noted()
    let found = durations(notes)
    #expect(found.keys.sorted() == Self.items)
    #expect(Set(found.values) == [4_000_000])
    #expect(outcome.modelledCosts == 4 + 6 && outcome.recordedCosts == 0)
    // One after the other, or in parallel.
    let joined = notes.lines.filter { $0.node == "people/join" && $0.kind == .join }
    let after = concurrency == 1 ? [8, 12, 0, 4] : [4, 4, 0, 4]
    let expected = after.enumerated().map { Int64($0.offset * 100 + 1 + $0.element) * 1_000_000 }
    #expect(joined.map(\.time) == expected)
  }

  @Test func `a uniform cost is drawn for each item, by its node, frame and number`() throws {
    let cost = Cost.uniform(.milliseconds(1), .milliseconds(20))
    for seed in [1, 2] as [UInt64] {
      let notes = try pipeline(cost).noted(RunOptions(mode: .simulate, seed: seed)).notes
      let model = CostModel.declared(seed: seed)
      let expected = Self.items.map { name in
        let numbers = name.split(separator: ".").compactMap { Int($0) }
        return model.nanoseconds(
          of: cost, nodeHash: Draw.hash(ofNode: "people/label"), sequence: numbers[0],
          item: numbers[1])
      }
      let found = durations(notes)
      #expect(Self.items.map { found[$0] } == expected)
      #expect(Set(expected).count == Self.items.count)
    }
  }

  @Test(arguments: [0, 1, 2, 4, 8])
  func `timings have a cost for each item`(workers: Int) throws {
    let timed: [(Int, Int, Int64)] = [
      (0, 0, 1_000), (0, 1, 70_000), (1, 0, 300), (1, 1, 5), (1, 2, 0), (3, 0, 9_000_000),
    ]
    let (notes, outcome) = try pipeline(.fixed(.milliseconds(4))).noted(
      try options(timed, workers: workers, isStrict: true))
    let found = durations(notes)
    #expect(Self.items.map { found[$0] } == timed.map(\.2))
    #expect(outcome.recordedCosts == 4 + 6 && outcome.modelledCosts == 0)
  }

  @Test(arguments: [0, 1, 2, 4, 8])
  func `another number of items than in the timings are drawn from its quantiles, and counted`(
    workers: Int
  ) throws {
    let timed: [(Int, Int, Int64)] = [
      (0, 0, 1_000_000), (0, 1, 2_000_000), (1, 0, 7_000_000), (1, 1, 8_000_000),
    ]
    let (notes, outcome) = try pipeline(nil).noted(try options(timed, workers: workers))
    func drawn(_ sequence: Int, _ item: Int) -> Int64 {
      QuantileTable.logNormal(
        p50: 2_000_000, p99: 8_000_000,
        bits: Draw.bits(
          seed: 5, node: Draw.hash(ofNode: "people/label"), sequence: sequence, item: item,
          purpose: .cost))
    }
    let found = durations(notes)
    #expect(
      Self.items.map { found[$0] } == [
        1_000_000, 2_000_000, drawn(1, 0), drawn(1, 1), drawn(1, 2), drawn(3, 0),
      ])
    #expect(outcome.recordedCosts == 4 + 2 && outcome.modelledCosts == 4)
  }

  @Test func `strict timings of another number of items end the run at the first item`() throws {
    let strict = try options([(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1)], isStrict: true)
    let error = #expect(throws: RuntimeError.self) { try pipeline(nil).noted(strict) }
    #expect(error?.message == "the timings test.timings have no cost of 'people/label' for item 0")
    #expect(error?.place?.frame == FrameID(track: 0, sequence: 1))
    #expect(error?.cause == "the frame has 3 items, and 2 in the timings")
  }
}
