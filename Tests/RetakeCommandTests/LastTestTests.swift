import Foundation
import Testing

/// `retake accept` without a name accepts the results of the last test, and no unseen result.
@Suite struct LastTestTests {
  /// Two sessions, both with a pending golden.
  private func waiting() throws -> Workplace {
    let workplace = try Workplace()
    for name in ["gate", "yard"] { try workplace.record(name, frames: 6, size: "64x48") }
    try #require(try workplace.retake("init").status == 0)
    try #require(try workplace.retake("test").status == 3)
    return workplace
  }

  private func pending(_ session: String, _ workplace: Workplace) -> Bool {
    workplace.exists("Goldens/\(session)/motion-boxes/golden.yml.new")
  }

  @Test func `what an earlier test left stays pending, and is named`() throws {
    let workplace = try waiting()
    try #require(try workplace.retake("test", "yard").status == 3)
    let accepted = try workplace.retake("accept", "--reason", "first")
    #expect(accepted.status == 0, "\(accepted.stderr)")
    #expect(accepted.stdout.hasPrefix("accepted  yard/motion-boxes"), "\(accepted.stdout)")
    #expect(!accepted.stdout.contains("gate"))
    #expect(
      accepted.stderr.contains(
        "note: left pending, because the last 'retake test' did not run them: gate/motion-boxes"),
      "\(accepted.stderr)")
    #expect(pending("gate", workplace) && !pending("yard", workplace))

    // All results of the last test are accepted, so the earlier result has to be named.
    let none = try workplace.retake("accept", "--reason", "first")
    #expect(none.status == 2 && none.stderr.contains("[suite.accept.notOfLastTest]"))
    #expect(none.stderr.contains("retake accept gate/motion-boxes --reason"), "\(none.stderr)")
    #expect(try workplace.retake("accept", "gate", "--reason", "first").status == 0)
    #expect(!pending("gate", workplace))
  }

  @Test func `a test of all sessions leaves nothing that is earlier`() throws {
    let workplace = try waiting()
    let accepted = try workplace.retake("accept", "--reason", "first", "--json")
    #expect(try accepted.json().count == 2 && accepted.stderr.isEmpty, "\(accepted.stderr)")
    #expect(try workplace.retake("test").status == 0)
    let none = try workplace.retake("accept", "--reason", "first")
    #expect(none.stderr.contains("[suite.accept.nothingPending]"), "\(none.stderr)")
  }

  @Test func `without a note of the last test, all that is pending is accepted`() throws {
    let workplace = try waiting()
    try #require(try workplace.retake("test", "yard").status == 3)
    try FileManager.default.removeItem(at: workplace.folder.file(".retake/last-test.json"))
    let accepted = try workplace.retake("accept", "--reason", "first", "--json")
    #expect(try accepted.json().count == 2)
  }

  @Test func `a rejected result leaves no empty folders`() throws {
    let workplace = try waiting()
    try workplace.folder.write("mine\n", to: "Goldens/gate/motion-boxes/NOTES.md")
    let rejected = try workplace.retake("reject")
    #expect(rejected.status == 0, "\(rejected.stderr)")
    #expect(!workplace.exists("Goldens/yard"))
    #expect(workplace.exists("Goldens/gate/motion-boxes/NOTES.md"))
  }
}
