import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeServe

@Suite struct EmbeddedResourcesTests {
  @Test func `the program holds the bytes of the files`() throws {
    let embedded = [
      "home.css": EmbeddedResources.homeCSS,
      "home.html": EmbeddedResources.homeHTML,
      "home.js": EmbeddedResources.homeJS,
    ]
    let folder = packageRoot.appending(path: "Sources/RetakeServe/Resources")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(files.sorted() == embedded.keys.sorted())
    for (file, text) in embedded {
      #expect(try Data(text.utf8) == Data(contentsOf: folder.appending(path: file)))
    }
  }
}
