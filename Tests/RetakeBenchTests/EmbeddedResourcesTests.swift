import RetakeTestSupport
import Testing

@testable import RetakeBench

@Suite struct EmbeddedResourcesTests {
  @Test func `the program holds the bytes of the files`() throws {
    let embedded = [
      "ocr-one.json": EmbeddedResources.ocrOneJSON,
      "ocr-scan.json": EmbeddedResources.ocrScanJSON,
      "ocr-two.json": EmbeddedResources.ocrTwoJSON,
      "phone-calibrated.json": EmbeddedResources.phoneCalibratedJSON,
      "phone-derived.json": EmbeddedResources.phoneDerivedJSON,
      "pressure.json": EmbeddedResources.pressureJSON,
      "shift-burst.json": EmbeddedResources.shiftBurstJSON,
      "shift-scene.json": EmbeddedResources.shiftSceneJSON,
      "swing-frames.json": EmbeddedResources.swingFramesJSON,
      "swing-seconds.json": EmbeddedResources.swingSecondsJSON,
      "vm-x86-1.json": EmbeddedResources.vmX861JSON,
      "vm-x86-2.json": EmbeddedResources.vmX862JSON,
    ]
    #expect(try resourcesThatDiffer(from: embedded, of: "Annexes/RetakeBench") == [])
  }
}
