import Foundation
import RetakeMedia
import Testing

@Suite struct ProcessorFeaturesTests {
  /// In a separate process, where no features were forced before.
  @Test func `plain C is fewer instructions than the processor has, also when it is forced first`()
    async
  {
    await #expect(processExitsWith: .success) {
      ProcessorFeatures.none.force()
      let isKept = ProcessorFeatures.none.isReduced
      ProcessorFeatures.all.force()
      exit(isKept && ProcessorFeatures.none.isReduced ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }
}
