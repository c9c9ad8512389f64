import Testing

@Suite struct ModelComparisonTests {
  static let casesPerBatch: UInt64 = 50

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `the engine decides line by line as the rules' independent model does`(batch: UInt64) throws
  {
    for seed in batch * Self.casesPerBatch..<(batch + 1) * Self.casesPerBatch {
      let difference = try ModelComparison(ModelCase(seed: seed, shape: .line)).difference
      #expect(difference == nil, "seed \(seed)")
    }
  }
}
