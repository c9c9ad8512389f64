import Foundation
import RetakeGolden
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// The first stage in the order of causes is named, also within one instant.
@Suite struct PlantedChoiceTests {
  @Test func `there are at least 35 planted choices, and no two alike`() {
    #expect(PlantedChoice.all.count >= 35)
    #expect(Set(PlantedChoice.all.map(\.description)).count == PlantedChoice.all.count)
  }

  @Test(arguments: PlantedChoice.all)
  func `a planted choice is blamed on the node that chose, at the first frame`(
    planted: PlantedChoice
  ) throws {
    let folder = try TemporaryFolder("retake-planted")
    let golden = GoldenFolder(folder.file("golden"))
    let actual = GoldenFolder(folder.file("actual"))
    let (before, now) = try planted.write(golden: golden, actual: actual)
    let comparison = GoldenComparator(
      golden: golden, actual: actual, options: .withImages
    ).outcome()
    #expect(comparison.verdict == .changed, "\(comparison.reasons)")
    let root = try #require(comparison.firstDivergence)
    #expect(root.stage == planted.stage, "\(root)")
    #expect(root.why == planted.why, "\(root)")
    #expect(root.origin == planted.origin, "\(root)")
    let sequence: Int? =
      switch planted.place {
      case .frame(let number): number
      case .firstDecision: now.firstOtherDecision(from: before)?.frame?.sequence
      case .firstDifference: now.firstDifference(from: before, at: planted.stage)
      }
    #expect(sequence != nil && root.frame?.sequence == sequence, "\(root)")
    let suspected = comparison.suspects.contains { $0.hasPrefix("the pipeline changed") }
    #expect(suspected == (planted.origin == .pipeline), "\(comparison.suspects)")
    let program = comparison.suspects.contains { $0.contains("the code of stage 'tamper' changed") }
    #expect(program == planted.renames, "\(comparison.suspects)")
    // The digests are no longer the only description of a pipeline.
    #expect(comparison.pipelineChanges.isEmpty == planted.renames, "\(comparison.suspects)")
  }
}
