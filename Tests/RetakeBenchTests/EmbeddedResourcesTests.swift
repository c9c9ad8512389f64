import RetakeTestSupport
import Testing

@testable import RetakeBench

@Suite struct EmbeddedResourcesTests {
  @Test func `the program holds the bytes of the files`() throws {
    let embedded = [
      "ocr-one.json": EmbeddedResources.ocrOneJSON,
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
