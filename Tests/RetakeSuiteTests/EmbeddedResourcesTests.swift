import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeSuite

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
    let folder = packageRoot.appending(path: "Sources/RetakeSuite/Resources")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(files.sorted() == embedded.keys.sorted())
    for (file, text) in embedded {
      #expect(try Data(text.utf8) == Data(contentsOf: folder.appending(path: file)))
    }
  }
}
