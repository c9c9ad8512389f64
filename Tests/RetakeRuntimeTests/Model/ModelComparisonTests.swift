import Foundation
import Testing

/// The engine compared with the model of its rules, for every decision line and every ledger.
///
/// `RETAKE_MODEL_CASES=20000 swift test --filter ModelComparisonTests` compares that number of
/// graphs, and half as many whose frames overtake each other.
@Suite struct ModelComparisonTests {
  private static let batches: UInt64 = 20
  static let lines: UInt64 = 1_000
  static let graphs =
    ProcessInfo.processInfo.environment["RETAKE_MODEL_CASES"]
    .flatMap { UInt64($0) } ?? 1_200

  /// Compares the cases of one batch that are valid pipelines.
  private func check(_ shape: ModelCase.Shape, cases: UInt64, batch: UInt64) throws {
    var compared = 0
    var refused = 0
    for seed in batch * cases / Self.batches..<(batch + 1) * cases / Self.batches {
      let example = ModelCase(seed: seed, shape: shape)
      guard (try? example.pipeline.validate()) != nil else {
        refused += 1
        continue
      }
      let difference = try ModelComparison(example).difference
      #expect(difference == nil, "seed \(seed)")
      compared += 1
    }
    // So that a drawing that is mostly refused is noticed. Pools and screens have more rules.
    let needed = shape == .adaptive ? refused / 2 : refused
    #expect(compared > needed, "\(compared) compared, \(refused) refused")
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `the engine decides lines as the rules' independent model does`(batch: UInt64) throws {
    try check(.line, cases: Self.lines, batch: batch)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `the engine decides graphs, swaps and heat as the model does`(batch: UInt64) throws {
    try check(.graph, cases: Self.graphs, batch: batch)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `the engine decides frames that overtake each other as the model does`(
    batch: UInt64
  ) throws {
    try check(.overtaking, cases: Self.graphs / 2, batch: batch)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `the engine decides adaptive pools and screens as the model does`(batch: UInt64) throws {
    try check(.adaptive, cases: Self.graphs / 2, batch: batch)
  }
}
