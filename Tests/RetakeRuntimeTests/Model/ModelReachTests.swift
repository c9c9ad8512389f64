import RetakeCore
import Testing

/// A comparison is worth what its cases meet.
@Suite struct ModelReachTests {
  @Test func `the random cases meet every kind of decision, many at one nanosecond`() throws {
    var casesByKind: [String: Int] = [:]
    var halts = 0
    var crowded = 0
    for seed in 0..<1_000 as Range<UInt64> {
      let lines = try ModelCase(seed: seed).model.run().map { line in
        try #require(DecisionLine(parsing: line))
      }
      for kind in Set(lines.map(\.kind)) { casesByKind[kind, default: 0] += 1 }
      if lines.last?.kind == "halt" { halts += 1 }
      let busiest = Dictionary(grouping: lines, by: \.time).values.map(\.count).max() ?? 0
      if busiest >= 12 { crowded += 1 }
    }
    let kinds = [
      "lost", "drop", "supersede", "thin", "fail", "block", "unblock", "start", "done", "deliver",
      "outcome", "halt",
    ]
    #expect(casesByKind.keys.sorted() == kinds.sorted())
    for kind in kinds { #expect(casesByKind[kind, default: 0] >= 25, "\(kind): \(casesByKind)") }
    #expect(halts >= 25)
    #expect(crowded >= 300, "\(crowded)")
  }
}
