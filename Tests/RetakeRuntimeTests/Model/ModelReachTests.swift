import RetakeCore
import RetakeGraph
import Testing

/// A comparison is only as good as the situations that its cases reach.
@Suite struct ModelReachTests {
  /// The situations that a number of cases reach, and in how many of them.
  private struct Reach {
    var cases: [String: Int] = [:]
    var crowded = 0
    var stuck = 0
    var lines = 0

    mutating func meet(_ example: ModelCase) throws {
      var texts = example.model.run()
      if texts.last == "stuck" {
        stuck += 1
        texts.removeLast()
      }
      lines += texts.count
      let decisions = try texts.map { try #require(DecisionLine(parsing: $0)) }
      let names = decisions.flatMap(Self.names) + Self.turns(decisions, of: example)
      for name in Set(names) { cases[name, default: 0] += 1 }
      let busiest = Dictionary(grouping: decisions, by: \.time).values.map(\.count).max() ?? 0
      if busiest >= 12 { crowded += 1 }
    }

    /// The kind, also with the reason if there is one, and whether it concerns an item.
    private static func names(_ line: DecisionLine) -> [String] {
      var names = [line.kind.rawValue]
      if let reason = line["reason"] { names.append("\(line.kind) \(reason)") }
      if let code = line["code"] { names.append("\(line.kind) \(code)") }
      if line["from"] != nil { names.append("fallback") }
      if let batch = line["batch"] { names.append(batch == "1" ? "batch of one" : "batch") }
      if line.item != nil { names.append("item \(line.kind)") }
      if line.kind == .latest {
        names += line.details.map { $0.value == "-" ? "latest nothing" : "latest value" }
      }
      return names
    }

    /// Buffers that a source gets while others wait for the same pool, and how they are ordered.
    private static func turns(_ lines: [DecisionLine], of example: ModelCase) -> [String] {
      let pools = example.nodes.reduce(into: [:]) { $0[$1.id] = $1.pool }
      var standing: [String: Int64] = [:]
      var names: [String] = []
      for line in lines {
        switch (line.kind, line["reason"]) {
        case (.wait, "pool"): standing[line.node] = line.time
        case (.lost, "pool"): standing[line.node] = nil
        case (.waited, _):
          standing[line.node] = nil
          let others = standing.keys.filter { pools[$0] == pools[line.node] }
          let lower = others.filter { $0.utf8.lexicographicallyPrecedes(line.node.utf8) }
          if !others.isEmpty { names.append("others wait") }
          if !lower.isEmpty { names.append("a lower id waits") }
        default: break
        }
      }
      return names
    }

    func expect(_ names: [String], atLeast count: Int) {
      for name in names { #expect(cases[name, default: 0] >= count, "\(name)") }
    }
  }

  static let kinds = [
    "lost", "drop", "supersede", "thin", "fail", "block", "unblock", "start", "done", "deliver",
    "outcome", "halt",
  ]

  @Test func `the random lines meet every kind of decision, many at one nanosecond`() throws {
    var reach = Reach()
    for seed in 0..<1_000 as Range<UInt64> { try reach.meet(ModelCase(seed: seed, shape: .line)) }
    reach.expect(Self.kinds, atLeast: 25)
    #expect(reach.crowded >= 300)
    #expect(reach.stuck == 0)
  }

  @Test func `the random graphs meet every kind of decision and reason`() throws {
    var reach = Reach()
    for seed in 0..<1_000 as Range<UInt64> { try reach.meet(ModelCase(seed: seed)) }
    reach.expect(Self.kinds, atLeast: 25)
    reach.expect(
      [
        "wait pool", "wait turn", "waited", "lost wait", "others wait", "a lower id waits",
        "fanout", "join", "latest",
        "latest nothing", "latest value", "timeout", "late", "itemFail",
        "fallback", "lost queue", "lost pool", "drop queue", "drop pool", "drop timeout",
        "drop partnerMissing", "fail timeout", "fail pool.empty", "fail model.chosen",
        "fail session.packet.refused", "itemFail timeout", "itemFail pool.empty",
        "itemFail model.chosen", "outcome queue", "outcome pool", "outcome timeout",
        "outcome partnerMissing", "outcome throttle", "outcome sample", "outcome route",
        "item block", "item unblock", "item timeout", "item late", "throttle", "swapPrepare",
        "swap", "swapRefused swap.outputMismatch", "batch", "batch of one",
      ], atLeast: 8)
    reach.expect(["item halt", "swapRefused swap.noStage"], atLeast: 3)
    #expect(reach.crowded >= 600)
    #expect((10...200).contains(reach.stuck), "\(reach.stuck)")
  }

  @Test func `the random pools and screens meet every reason for a change of size`() throws {
    var reach = Reach()
    for seed in 0..<300 as Range<UInt64> {
      let example = ModelCase(seed: seed, shape: .adaptive)
      guard (try? example.pipeline.validate()) != nil else { continue }
      try reach.meet(example)
    }
    reach.expect(
      [
        "wait pool", "waited", "others wait", "breaker", "vsync", "resize expand",
        "resize shrink", "resize thermal", "resize memory",
        "resize breaker",
      ], atLeast: 8)
    reach.expect(["wait turn", "lost wait"], atLeast: 4)
  }

  @Test func `most random graphs are pipelines, and the others can never work`() {
    var refused: [String] = []
    for seed in 0..<1_000 as Range<UInt64> {
      do {
        try ModelCase(seed: seed).pipeline.validate()
      } catch {
        refused.append(error.facts.message)
      }
    }
    #expect(refused.count <= 200, "\(refused.count)")
    #expect(
      refused.allSatisfy {
        $0.contains("no frame would ever arrive") || $0.contains("would wait for frames on several")
      })
  }
}
