import RetakeTestSupport
import Testing

@testable import RetakeReport

@Suite struct EmbeddedResourcesTests {
  @Test func `the program holds the bytes of the files`() throws {
    let embedded = [
      "page.css": EmbeddedResources.pageCSS,
      "page.js": EmbeddedResources.pageJS,
    ]
    #expect(try resourcesThatDiffer(from: embedded, of: "Judge/RetakeReport") == [])
  }
}
