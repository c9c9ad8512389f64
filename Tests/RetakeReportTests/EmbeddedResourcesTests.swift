import RetakeTestSupport
import Testing

@testable import RetakeReport

@Suite struct EmbeddedResourcesTests {
  @Test func `the program holds the bytes of the files`() throws {
    #expect(throws: Never.self) {
      try expectEmbedded(
        [
          "page.css": EmbeddedResources.pageCSS,
          "page.js": EmbeddedResources.pageJS,
          "page.mustache": EmbeddedResources.pageMustache,
          "report.schema.json": EmbeddedResources.reportSchemaJSON,
        ], of: "RetakeReport")
    }
  }
}
