import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeReport

@Suite struct EmbeddedResourcesTests {
  @Test func `the program holds the bytes of the files`() throws {
    let embedded = [
      "page.css": EmbeddedResources.pageCSS,
      "page.js": EmbeddedResources.pageJS,
      "page.mustache": EmbeddedResources.pageMustache,
      "report.schema.json": EmbeddedResources.reportSchemaJSON,
    ]
    let folder = packageRoot.appending(path: "Sources/RetakeReport/Resources")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(files.sorted() == embedded.keys.sorted())
    for (file, text) in embedded {
      #expect(try Data(text.utf8) == Data(contentsOf: folder.appending(path: file)))
    }
  }
}
