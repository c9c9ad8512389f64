import RetakeRuntime
import Testing

@Suite struct ModelComparisonTests {
  static let casesPerBatch: UInt64 = 50

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `the engine decides line by line as the rules' independent model does`(batch: UInt64) throws
  {
    for seed in batch * Self.casesPerBatch..<(batch + 1) * Self.casesPerBatch {
      let example = ModelCase(seed: seed)
      let expected = example.model.run()
      let (notes, outcome) = try example.pipeline.noted(
        RunOptions(mode: example.mode, workers: 0, seed: seed))
      let actual = notes.lines.map(\.description)
      #expect(outcome.headline.isBalanced, "seed \(seed)")
      #expect(outcome.decisions == actual.count)
      guard actual != expected else { continue }
      let index = zip(actual, expected).prefix { $0 == $1 }.count
      Issue.record(
        """
        \(example)
        after \(actual[..<index].suffix(6))
        engine \(actual[index...].prefix(4)) of \(actual.count)
        model \(expected[index...].prefix(4)) of \(expected.count)
        """)
    }
  }
}
