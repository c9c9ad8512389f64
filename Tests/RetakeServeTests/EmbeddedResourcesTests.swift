import RetakeTestSupport
import Testing

@testable import RetakeServe

@Suite struct EmbeddedResourcesTests {
  @Test func `the program holds the bytes of the files`() throws {
    #expect(throws: Never.self) {
      try expectEmbedded(
        [
          "home.css": EmbeddedResources.homeCSS,
          "home.html": EmbeddedResources.homeHTML,
          "home.js": EmbeddedResources.homeJS,
        ], of: "RetakeServe")
    }
  }
}
