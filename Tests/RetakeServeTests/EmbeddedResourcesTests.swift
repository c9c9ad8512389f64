import RetakeTestSupport
import Testing

@testable import RetakeServe

@Suite struct EmbeddedResourcesTests {
  @Test func `the program holds the bytes of the files`() throws {
    let embedded = [
      "home.css": EmbeddedResources.homeCSS,
      "home.html": EmbeddedResources.homeHTML,
      "home.js": EmbeddedResources.homeJS,
      "labels.css": EmbeddedResources.labelsCSS,
      "labels.html": EmbeddedResources.labelsHTML,
      "labels.js": EmbeddedResources.labelsJS,
    ]
    #expect(try resourcesThatDiffer(from: embedded, of: "Annexes/RetakeServe") == [])
  }
}
