import Foundation
import RetakeTestSupport
import Testing

/// The preview benchmark has the documented results on every machine.
@Suite struct PreviewBenchTests {
  @Test func `the table of the lab is what the command gives`() throws {
    let workplace = try Workplace()
    let result = try workplace.retake("bench", "preview")
    try #require(result.status == 0, "\(result.stderr)")
    let page = try String(
      contentsOf: packageRoot.appending(path: "Sources/Lab/previews.md"), encoding: .utf8)
    #expect(page.contains("\n```\n\(result.stdout)```\n"), "\(result.stdout)")
  }

  private struct Row: Decodable {
    var trial: String
    var frames: Int
    var shown: Int
    var lost: Int
    var dropped: Int
    var throttled: Int
    var repeats: Int
    var jitterMax: Int64
    var droppedFrames: [Int]
  }

  @Test func `slow vision costs no frame, and late drawing exactly those that are named`() throws {
    let workplace = try Workplace()
    let result = try workplace.retake("bench", "preview", "--json")
    try #require(result.status == 0, "\(result.stderr)")
    let rows = try JSONDecoder().decode([Row].self, from: result.stdoutBytes)
    for row in rows { #expect(row.shown + row.lost + row.dropped + row.throttled == row.frames) }
    func row(_ name: String) throws -> Row { try #require(rows.first { $0.trial == name }) }
    for name in ["copies", "reference", "vision hangs"] {
      let row = try row(name)
      #expect((row.shown, row.repeats) == (600, 0), "\(name)")
      #expect(row.jitterMax <= 2, "\(name): rounding of two clocks")
    }
    #expect(try row("in line").shown < 100)
    let late = try row("draws 17 ms")
    #expect(late.droppedFrames == [52, 103, 154, 205, 256, 307, 358, 409, 460, 511, 562])
    #expect(try row("draws 17 ms, reference").lost > 0 && late.lost == 0)
    #expect(try row("2 buffers, copies").shown == 600)
    #expect(try row("2 buffers, reference").lost > 300)
    #expect(try row("draws 17 ms, 2 on screen").shown <= 302)
    #expect(try row("hot from 3 to 6 s").throttled == 90)
  }
}
