import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeRuntime
@testable import RetakeTimePlane

extension RecordedTimings {
  /// Timings of rows `(node, sequence, item, nanoseconds)` on track 0.
  static func of(
    _ rows: [(node: String, sequence: Int, item: Int, nanoseconds: Int64)]
  ) throws -> RecordedTimings {
    var builder = Builder()
    for row in rows {
      try builder.append(
        node: row.node, frame: FrameID(track: 0, sequence: row.sequence), item: row.item,
        nanoseconds: row.nanoseconds)
    }
    return try builder.finish(name: "test.timings")
  }
}

@Suite struct RecordedTimingsTests {
  private func frame(_ sequence: Int, track: Int = 0) -> FrameID {
    FrameID(track: track, sequence: sequence)
  }

  @Test func `each cost is found by its node, track, sequence and item`() throws {
    var builder = RecordedTimings.Builder()
    var expected: [(String, FrameID, Int, Int64)] = []
    for (index, node) in ["motion", "grey"].enumerated() {
      for track in [3, 0] {
        for sequence in [7, 2, 40_000] {
          for item in [1, -1, 0] {
            let cost = Int64(index * 1_000_000 + track * 100_000 + sequence + item + 1)
            expected.append((node, frame(sequence, track: track), item, cost))
          }
        }
      }
    }
    for (node, frame, item, cost) in expected {
      try builder.append(node: node, frame: frame, item: item, nanoseconds: cost)
    }
    let timings = try builder.finish(name: "t")
    #expect(timings.spanCount == expected.count)
    for (node, frame, item, cost) in expected {
      let column = try #require(timings.column(of: node))
      #expect(column.nanoseconds(of: frame, item: item) == cost)
      #expect(column.itemCount(of: frame) == 2)
    }
    let column = try #require(timings.column(of: "motion"))
    #expect(column.nanoseconds(of: frame(3), item: -1) == nil)
    #expect(column.nanoseconds(of: frame(7), item: 2) == nil)
    #expect(column.nanoseconds(of: frame(7, track: 1), item: -1) == nil)
    #expect(column.itemCount(of: frame(8)) == 0)
    #expect(timings.column(of: "gray") == nil)
  }

  @Test func `the digest is of the costs, not of their order`() throws {
    let rows: [(node: String, sequence: Int, item: Int, nanoseconds: Int64)] = [
      ("a", 0, -1, 5), ("a", 1, -1, 6), ("b", 0, 0, 7), ("b", 0, 1, 8),
    ]
    let digest = try RecordedTimings.of(rows).digest
    #expect(try RecordedTimings.of(rows.reversed()).digest == digest)
    for index in rows.indices {
      var changed = rows
      changed[index].nanoseconds += 1
      #expect(try RecordedTimings.of(changed).digest != digest)
      changed = rows
      changed[index].sequence += 9
      #expect(try RecordedTimings.of(changed).digest != digest)
      changed = rows
      changed[index].node = "c"
      #expect(try RecordedTimings.of(changed).digest != digest)
    }
  }

  @Test func `spans that cannot be are refused in words`() throws {
    func detail(_ rows: [(String, Int, Int, Int64)]) -> String? {
      #expect(throws: RecordedTimings.Problem.self) { try RecordedTimings.of(rows) }?.detail
    }
    #expect(detail([("a", 0, -1, -1)])?.contains("ends before it starts") == true)
    #expect(detail([("a", -1, -1, 1)]) == "there is no frame 0:-1 with an item -1")
    #expect(detail([("a", 0, -2, 1)]) == "there is no frame 0:0 with an item -2")
    #expect(detail([("a", 1 << 32, -1, 1)])?.contains("no frame") == true)
    #expect(
      detail([("a", 4, -1, 1), ("a", 3, -1, 1), ("a", 4, -1, 2)])
        == "'a' has two spans for frame 0:4")
    #expect(detail([("a", 4, 2, 1), ("a", 4, 2, 1)]) == "'a' has two spans for frame 0:4.2")
    var builder = RecordedTimings.Builder(spansMax: 1)
    try builder.append(node: "a", frame: frame(0), item: -1, nanoseconds: 0)
    let problem = #expect(throws: RecordedTimings.Problem.self) {
      try builder.append(node: "a", frame: frame(1), item: -1, nanoseconds: 0)
    }
    #expect(problem?.detail == "it has more than 1 spans")
  }

  @Test func `a cost counts as an hour at most`() throws {
    let timings = try RecordedTimings.of([("a", 0, -1, .max)])
    #expect(timings.column(of: "a")?.nanoseconds(of: frame(0), item: -1) == Cost.nanosecondsMax)
  }

  @Test(arguments: [
    ([5], 5, 5), ([1, 2], 1, 2), ([3, 1, 2], 2, 3), (Array(1...100), 50, 99),
    (Array(1...101), 51, 100), (Array(1...1_000), 500, 990),
  ])
  func `quantiles are by nearest rank over all costs`(costs: [Int], p50: Int64, p99: Int64) throws {
    let timings = try RecordedTimings.of(
      costs.enumerated().map { ("a", $0.offset, $0.offset % 3 - 1, Int64($0.element)) })
    let quantiles = try #require(timings.column(of: "a")).quantiles()
    #expect(quantiles == (p50, p99))
  }
}
