import Foundation
import Testing

@testable import Retake
@testable import RetakeCommand

/// The advice of a program with its own stages.
@Suite struct ProgramNameTests {
  @Test func `advice names the program that runs`() {
    let text = "next: retake replay yard\n  retake session check yard; retake.yml, a retake today"
    #expect(ProgramName("retake").applied(to: text) == text)
    #expect(
      ProgramName("./my-retake").applied(to: "next: ./my-retake test")
        == "next: ./my-retake test")
    #expect(
      ProgramName(".build/release/first").applied(to: text)
        == "next: .build/release/first replay yard\n  .build/release/first session check yard; "
        + "retake.yml, a retake today")
  }

  @Test(arguments: [
    ("USAGE: retake <subcommand>", "USAGE: my <subcommand>"),
    ("See: retake --help", "See: my --help"),
    ("See 'retake help record' for more", "See 'my help record' for more"),
    ("this retake reads version 1", "this retake reads version 1"),
    ("the retake tests", "the retake tests"),
    ("retake report serve, retake report open", "my report serve, my report open"),
  ])
  func `usage lines name it, and prose does not`(text: String, own: String) {
    #expect(ProgramName("my").applied(to: text) == own)
  }

  @Test func `a path with a space is one word`() {
    let name = ProgramName("/opt/my tools/yard")
    #expect(name.applied(to: "retake test") == "'/opt/my tools/yard' test")
  }

  @Test func `every command of the program is known by name`() {
    let names = Root.configuration.subcommands.compactMap { $0.configuration.commandName }
    #expect((names + ["help"]).sorted() == ProgramName.commands)
  }

  /// Whether a command to type with the name `retake` is in the text.
  private func namesRetake(_ text: String) -> Bool {
    ProgramName("other").applied(to: text) != text
  }

  @Test func `usage, help and errors of a user's own program name that program`() throws {
    let workplace = try Workplace()
    let name = Workplace.impureBinary
    for words in [
      ["--help"], ["record", "--help"], ["help", "record"], ["record"], ["rekord"],
      ["test", "--pipeline"], ["replay", "yard"], ["report", "--help"], ["-clip.mp4"],
    ] {
      let result = try workplace.retake(words: words, binary: name)
      let text = result.stdout + result.stderr
      #expect(!namesRetake(text), "\(words): \(text)")
      #expect(text.contains(name), "\(words): \(text)")
    }
  }

  @Test func `messages of a recorder's own threads name the program, too`() throws {
    let workplace = try Workplace()
    let result = try workplace.retake(
      words: [
        "record", "synthetic:figures", "--name", "yard", "--frames", "30", "--size", "64x48",
        "--speed", "max", "--pipeline", "example:halts",
      ], binary: Workplace.impureBinary)
    #expect(result.status == 2)
    #expect(
      result.stderr.contains(
        "on the recorded frames: \(Workplace.impureBinary) replay Recordings/yard --pipeline "
          + "example:halts"), "\(result.stderr)")
    #expect(!namesRetake(result.stderr), "\(result.stderr)")
  }
}
