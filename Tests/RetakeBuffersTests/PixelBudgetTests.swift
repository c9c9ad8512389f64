import RetakeBuffers
import Testing

@Suite struct PixelBudgetTests {
  @Test(arguments: ["64M", "512M", "2G", "16384G", "2g"])
  func `an amount of memory is a number with its unit`(text: String) {
    #expect(PixelBudget.problem(with: text) == nil)
  }

  @Test(arguments: ["", "512", "2T", "-1G", "0G", "63M", "1.5G", "G", "20000000000000G", "99999G"])
  func `anything else is refused with an example`(text: String) {
    #expect(PixelBudget.problem(with: text)?.contains("RETAKE_MEMORY=2G") == true)
  }

  @Test func `without a setting there is none that is wrong`() {
    #expect(PixelBudget.problem(with: nil) == nil)
    #expect(PixelBudget().bytesMax == 512 << 20)
  }

  @Test func `a process that reads files of others has memory for images and for the index`() {
    let budget = PixelBudget(bytesMax: 64 << 20)
    #expect(budget.processBytesMax(reading: 0) == 640 << 20)
    #expect(budget.processBytesMax(reading: 5_000) == 640 << 20, "in mebibytes")
    #expect(budget.processBytesMax(reading: 1 << 30) == 640 << 20 + 512 << 20)
    #expect(PixelBudget.doubled.hasPrefix("RETAKE_MEMORY="))
    let text = PixelBudget.doubled.split(separator: "=").last.map(String.init)
    #expect(PixelBudget.problem(with: text) == nil)
  }

  @Test func `the parts of a budget are parts of it`() {
    for megabytes in [64, 512, 2_048] {
      let budget = PixelBudget(bytesMax: megabytes << 20)
      #expect(budget.decoderBytesMax + budget.aheadBytesMax < budget.bytesMax)
      #expect(budget.waitingBytesMax < budget.decodersBytesMax)
      #expect(budget.allowsTwoDecoders(holding: budget.decodersBytesMax / 2))
      #expect(!budget.allowsTwoDecoders(holding: budget.decodersBytesMax / 2 + 1))
    }
  }
}
