import Foundation
import RetakeTestSupport
import Testing

/// The rest of docs/libretake.md: its first C program is run by `EmbedderTests`.
@Suite(.enabled(if: BuiltLibrary.isBuilt, BuiltLibrary.reason))
struct GuideTests {
  @Test func `the guide's other functions in C compile next to its program`() throws {
    let blocks = try Guide.blocks("c")
    #expect(blocks.count == 3)
    let folder = try TemporaryFolder()
    let source = try folder.write(blocks.joined(separator: "\n"), to: "all.c")
    _ = try BuiltLibrary.compile(source, in: folder, options: ["-Wno-unused-function"])
  }

  @Test(.enabled(if: Python.isHere, SkipReason.noPython))
  func `the guide's program in Python runs`() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      at: folder.file("Recordings"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      at: folder.file("Recordings/yard"), withDestinationURL: Figures.session)
    let camera = "def frames():\n    return [bytes([n] * 115200) for n in range(8)]\n\n"
    let block = try #require(try Guide.blocks("python").first)
    let result = try Python.run(camera + block, folder: folder.url)
    #expect(result.status == 0, "\(result.stderr)")
    let lines = result.stdout.split(separator: "\n").map(String.init)
    #expect(lines.contains { $0.hasPrefix("LiveCounts(captured=") })
    // The two digests.
    #expect(lines.suffix(2).allSatisfy { $0.count == 32 })
  }

  @Test(.enabled(if: Python.isHere, SkipReason.noPython))
  func `the words of the guide's second program are a document`() throws {
    let blocks = try Guide.blocks("python")
    #expect(blocks.count == 2)
    let result = try Python.run(blocks[1] + "print(len(pipeline.document['nodes']))\n")
    #expect(result.stdout == "4\n", "\(result.stderr)")
  }
}
