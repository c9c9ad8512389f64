import RetakeTestSupport
import Testing

@testable import RetakeBench

@Suite struct EmbeddedResourcesTests {
  @Test func `the program holds the bytes of the files`() throws {
    let embedded = [
      "dips-fast.json": EmbeddedResources.dipsFastJSON,
      "dips-mild.json": EmbeddedResources.dipsMildJSON,
      "dips-slow.json": EmbeddedResources.dipsSlowJSON,
      "ocr-one.json": EmbeddedResources.ocrOneJSON,
      "ocr-scan.json": EmbeddedResources.ocrScanJSON,
      "ocr-two.json": EmbeddedResources.ocrTwoJSON,
      "pressure.json": EmbeddedResources.pressureJSON,
      "shift-burst.json": EmbeddedResources.shiftBurstJSON,
      "shift-scene.json": EmbeddedResources.shiftSceneJSON,
      "swing-frames.json": EmbeddedResources.swingFramesJSON,
      "swing-seconds.json": EmbeddedResources.swingSecondsJSON,
    ]
    #expect(try resourcesThatDiffer(from: embedded, of: "RetakeBench") == [])
  }
}
