import Foundation
import Retake
import RetakeTestSupport
import Testing

/// The runner of most command tests, compared with processes.
@Suite struct CommandInsideTests {
  /// Without commands that print how fast they were.
  private static let commands = [
    "--version", "--help", "nosuch", "session list --json", "session info yard --json", "test yard",
    "session info nosuch", "replay yard --pipeline example:motion-boxes --decisions - --quiet",
    "import nosuch.mp4", "record", "test yard --pipeline example:motion-boxes --list --json",
    "accept nosuch --reason none", "review", "pipeline check motion.json", "cache info --json",
    "session note yard --reason", "init --json",
  ]

  @Test func `a command inside the tests prints and returns the same as a process`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 10)
    try workplace.writePipeline()
    for line in Self.commands {
      let words = line.split(separator: " ").map(String.init)
      try #require(CommandInside.canRun(words, changing: []))
      // One after the other in the same state: the first run may leave a pending golden.
      _ = try workplace.retake(words: words)
      let inside = try workplace.retake(words: words)
      let process = try workplace.retake(words: words, binary: Workplace.binary)
      #expect(inside.status == process.status, "\(line)")
      #expect(inside.stdout == process.stdout, "\(line)")
      #expect(inside.stderr == process.stderr, "\(line)")
    }
  }

  @Test func `commands at the same time have their own folders, variables and output`() throws {
    let before = FileManager.default.currentDirectoryPath
    let places = try (0..<8).map { _ in try Workplace() }
    let results = Locked<[Int: CommandResult]>([:])
    NamedThread.concurrently(places.count, "command") { index in
      let words = ["record", "synthetic:figures", "--name", "n\(index)", "--frames", "3"]
      let variables = ["CI": index % 2 == 0 ? "true" : nil]
      let recorded = try? places[index].retake(words: words + ["--speed", "max"])
      let stale = try? places[index].retake(
        words: ["test", "--pipeline", "example:motion-boxes"], environment: variables)
      results.withLock { $0[index] = recorded?.status == 0 ? stale : nil }
    }
    for (index, place) in places.enumerated() {
      let result = try #require(results.withLock { $0[index] })
      #expect(result.stdout.contains("n\(index)"))
      #expect(!result.stdout.contains("n\((index + 1) % places.count)"))
      // In CI no pending golden is written.
      #expect(result.status == 3)
      #expect(place.exists("Recordings/n\(index)/session.sqlite"))
      #expect(place.exists("Goldens") == (index % 2 == 1))
    }
    #expect(FileManager.default.currentDirectoryPath == before)
  }

  @Test(arguments: ["view yard", "verify", "golden calibrate --runs 1", "profile measure"])
  func `a command that ends or measures its process has one`(line: String) {
    let words = line.split(separator: " ").map(String.init)
    #expect(!CommandInside.canRun(words, changing: []))
    #expect(CommandInside.canRun(words + ["--help"], changing: ["CI"]))
    #expect(!CommandInside.canRun(["test"], changing: ["LD_LIBRARY_PATH"]))
  }
}
