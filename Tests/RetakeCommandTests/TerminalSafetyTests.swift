import Foundation
import RetakeTestSupport
import Testing

/// Names and values from files, databases and folders, as they are printed on a terminal.
@Suite struct TerminalSafetyTests {
  /// Clears the screen, reverses the direction of text, and ends a line.
  private static let hostile = "a\u{1B}[2J\u{202E}b\u{9B}31m\u{7F}"

  private func expectHarmless(_ result: CommandResult, _ what: String) {
    for text in [result.stdout, result.stderr] {
      let acting = text.unicodeScalars.filter {
        ($0.value < 0x20 && $0 != "\n" && $0 != "\t") || (0x7F...0x9F).contains($0.value)
          || (0x202A...0x202E).contains($0.value)
      }
      #expect(acting.isEmpty, "\(what): \(acting.map { $0.value })")
    }
  }

  @Test func `nothing of a session's names and values acts on the terminal`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 6, size: "64x48")
    let recordings = workplace.folder.file("Recordings")
    let folder = recordings.appending(path: Self.hostile)
    try FileManager.default.moveItem(at: recordings.appending(path: "yard"), to: folder)
    let changed = try runSQLite(
      arguments: [
        folder.appending(path: "session.sqlite").path,
        "UPDATE segment_track SET codec = codec || char(27) || '[31m' || char(10) || 'x';"
          + "UPDATE meta SET value = 'k' || char(27) || '[8m' WHERE key = 'kind';"
          + "INSERT OR REPLACE INTO meta VALUES ('losses', char(155) || 'x', 0);",
      ])
    try #require(changed.status == 0, "\(changed.stderr)")
    let path = folder.path
    for words in [
      ["session", "list"], ["session", "info", path], ["session", "check", path],
      ["replay", path, "--pipeline", "example:motion-boxes", "--cache", "none"],
      ["test", path, "--pipeline", "example:motion-boxes"], ["session", "info", Self.hostile],
      ["session", "trim", path, "--from", "0s", "--into", "Spans"], ["session", Self.hostile],
      ["session", "list", "--from", "absent\u{1B}[2J"], ["--\u{1B}[2J"],
    ] {
      expectHarmless(try workplace.retake(words: words), words.joined(separator: " "))
    }
    let list = try workplace.retake("session", "list")
    #expect(list.stdout.contains("a\\u{1B}[2J\\u{202E}b"), "\(list.stdout)")
    #expect(list.stdout.split(separator: "\n").count == 1)
  }

  @Test func `JSON keeps every character of a name`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 6, size: "64x48")
    let recordings = workplace.folder.file("Recordings")
    try FileManager.default.moveItem(
      at: recordings.appending(path: "yard"), to: recordings.appending(path: Self.hostile))
    let list = try workplace.retake("session", "list", "--json")
    #expect(try list.json()[0].name.text == Self.hostile)
    #expect(!list.stdout.contains("\u{1B}"))
  }
}
