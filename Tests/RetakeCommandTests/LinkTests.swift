import Foundation
import RetakeTestSupport
import Testing

/// Links in a project do not lead any command out of it.
@Suite(.oneAtATime) struct LinkTests {
  /// Moves part of a project out of it and leaves a link in its place.
  private func lead(_ path: String, of workplace: Workplace, to outside: URL) throws {
    let file = workplace.folder.file(path)
    try FileManager.default.moveItem(at: file, to: outside)
    try FileManager.default.createSymbolicLink(
      atPath: file.path, withDestinationPath: outside.path)
  }

  /// Every path under a folder with its modification time.
  private func listing(_ folder: URL) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().map { name in
      let facts = try FileManager.default.attributesOfItem(
        atPath: folder.appending(path: name).path)
      return "\(name) \(facts[.size] ?? 0) \(facts[.systemFileNumber] ?? 0)"
    }
  }

  private let test = ["test", "yard", "--pipeline", "example:motion-boxes", "--cache", "none"]

  @Test(arguments: ["Goldens/yard", "Goldens/yard/motion-boxes"])
  func `a golden's folder that leads out of the project is neither read nor written`(
    path: String
  ) throws {
    let (workplace, other) = (try Workplace(), try TemporaryFolder())
    try workplace.record("yard")
    #expect(try workplace.retake(words: test).status == 3, "pending now")
    let outside = other.file("outside")
    try lead(path, of: workplace, to: outside)
    let before = try listing(outside)
    #expect(before.contains { $0.contains("golden.yml.new") })
    for words in [test, ["accept", "yard", "--reason", "mine"], ["reject"]] {
      let result = try workplace.retake(words: words)
      #expect(result.status == 2, "\(words): \(result.stdout)\(result.stderr)")
      #expect((result.stdout + result.stderr).contains("leads out of"), "\(words)")
      #expect(try listing(outside) == before, "\(words)")
    }
  }

  @Test func `a link within the goldens, and Goldens itself as a link, are used`() throws {
    let (workplace, other) = (try Workplace(), try TemporaryFolder())
    try workplace.record("yard")
    #expect(try workplace.retake(words: test).status == 3)
    try lead("Goldens/yard", of: workplace, to: workplace.folder.file("Goldens/mine"))
    try lead("Goldens", of: workplace, to: other.file("Goldens"))
    try FileManager.default.removeItem(at: other.file("Goldens/yard"))
    try FileManager.default.createSymbolicLink(
      atPath: other.file("Goldens/yard").path, withDestinationPath: "mine")
    #expect(try workplace.retake("accept", "yard", "--reason", "first").status == 0)
    #expect(try workplace.retake(words: test).status == 0)

    try FileManager.default.removeItem(at: other.file("Goldens"))
    let dead = try workplace.retake(words: test)
    #expect(dead.status == 2, "\(dead.stdout)\(dead.stderr)")
    #expect((dead.stdout + dead.stderr).contains("it is a symbolic link that leads"))
  }

  @Test(arguments: [".retake", ".retake/cache"])
  func `no cache is made where the project leads out of itself`(path: String) throws {
    let (workplace, other) = (try Workplace(), try TemporaryFolder())
    try workplace.record("yard")
    try? FileManager.default.removeItem(at: workplace.folder.file(".retake"))
    let link = workplace.folder.file(path)
    try FileManager.default.createDirectory(
      at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: link.path, withDestinationPath: other.url.path)
    let result = try workplace.retake(words: Array(test.dropLast(2)))
    #expect(
      result.status == 3 && (result.stdout + result.stderr).contains("leads out of the project"))
    let asked = try workplace.retake(words: Array(test.dropLast()) + ["auto"])
    #expect(asked.status == 2 && asked.stderr.contains("[replay.cache.linkOut]"))
    #expect(try workplace.retake("cache", "prune", "--limit", "1MB").status == 2)
    #expect(try listing(other.url).isEmpty)
  }

  @Test func `no trace is written into a session`() throws {
    let workplace = try Workplace()
    try workplace.record("yard")
    let session = workplace.folder.file("Recordings/yard")
    let before = try listing(session)
    let result = try workplace.retake(words: test + ["--traces", "Recordings"])
    #expect(result.status == 2, "\(result.stdout)")
    #expect(
      (result.stdout + result.stderr).contains("[suite.output.overInput]"), "\(result.stdout)")
    #expect(try listing(session) == before)
  }

  @Test(arguments: ["--report", "--traces"])
  func `no report is written where the project leads out of itself`(option: String) throws {
    let (workplace, other) = (try Workplace(), try TemporaryFolder())
    try workplace.record("yard")
    try FileManager.default.createSymbolicLink(
      atPath: workplace.folder.file("out").path, withDestinationPath: other.url.path)
    let result = try workplace.retake(words: test + [option, "out/folder"])
    #expect(result.status == 2 && result.stderr.contains("[suite.output.notWritable]"))
    #expect(try listing(other.url).isEmpty)
  }
}
