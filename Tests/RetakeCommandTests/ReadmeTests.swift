import Foundation
import RetakeTestSupport
import Testing

/// The commands at the top of README, line by line, as a reader types them.
@Suite struct ReadmeTests {
  /// A line of a block: the command, and the remark after it.
  private struct Line: Hashable {
    var command: String
    var remark: String

    /// The status that the remark names; 0 if it names none.
    var status: Int32 {
      remark.firstMatch(of: #/exit (\d)/#).flatMap { Int32($0.1) } ?? 0
    }
  }

  /// The lines of the block of commands that contains a text.
  private func block(with text: String) throws -> [Line] {
    let blocks = try PageBlock.blocks(of: "README.md").filter { $0.language == "sh" }
    return try #require(blocks.first { $0.text.contains(text) }).lines.map { line in
      let parts = line.split(separator: "#", maxSplits: 1)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      return Line(command: parts[0], remark: parts.count == 2 ? parts[1] : "")
    }
  }

  private func workplace() throws -> Workplace {
    let workplace = try Workplace()
    try workplace.writeMovingSquare("clip.mp4")
    return workplace
  }

  /// Raises the threshold, as the remarks of README ask for.
  private func change(_ workplace: Workplace) throws {
    let file = workplace.folder.file("motion.json")
    let text = try String(contentsOf: file, encoding: .utf8)
    let changed = text.replacing(#""threshold": 24"#, with: #""threshold": 250"#)
    try #require(changed != text)
    try changed.write(to: file, atomically: true, encoding: .utf8)
  }

  @Test func `the first steps have the statuses that README names`() throws {
    let workplace = try workplace()
    let lines = try block(with: "example:motion-boxes")
    #expect(lines.map(\.status) == [0, 0, 3, 0, 0, 1])
    for line in lines {
      if line.command.contains("--pipeline motion.json") { try change(workplace) }
      let result = try workplace.type(line.command)
      #expect(result.status == line.status, "\(line): \(result.stdout)\(result.stderr)")
    }
    #expect(workplace.exists("report/report.html"))
  }

  @Test func `the first block does what its remarks promise`() throws {
    let workplace = try workplace()
    let lines = try block(with: "/dev/video0")
    try #require(lines.count == 4)
    let recorded = try workplace.type(
      lines[0].command.replacing("/dev/video0", with: "synthetic:figures")
        + " --speed max --frames 90 --size 160x120")
    #expect(recorded.status == 0, "\(recorded.stderr)")
    // A machine for tests has no camera, so the clip of the remark is tested instead of it.
    let imported = try workplace.type(
      try #require(lines[0].remark.components(separatedBy: "or: ").last) + " --name yard-clip")
    #expect(imported.status == 0, "\(imported.stderr)")

    try workplace.writePipeline()
    let first = try workplace.type(lines[1].command)
    #expect(first.status == 3, "\(first.stdout)\(first.stderr)")
    let accept = try #require(lines[1].remark.components(separatedBy: "yet: ").last)
    let accepted = try workplace.type(accept)
    #expect(accepted.status == 0, "\(accepted.stderr)")
    #expect(try workplace.type(lines[1].command).status == 0)

    try change(workplace)
    let changed = try workplace.type(lines[2].command)
    #expect(changed.status == lines[2].status && lines[2].status == 1, "\(changed.stdout)")
    #expect(changed.stdout.contains("motion") && changed.stdout.contains("frame"))
    let opened = try workplace.type(lines[3].command)
    #expect(opened.stdout.contains("report/report.html"), "\(opened.stdout)\(opened.stderr)")
  }
}
