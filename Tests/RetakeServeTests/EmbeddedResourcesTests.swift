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
    #expect(try resourcesThatDiffer(from: embedded, of: "Annexes/RetakeServe") == [])
  }
}
