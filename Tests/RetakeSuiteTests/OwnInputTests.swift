import Foundation
import RetakeCore
import RetakeStages
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// A project reads and writes only files in its folder, unless the command line names others.
@Suite struct OwnInputTests {
  private let fixture: ProjectFixture
  /// Another folder than the project's.
  private let outside: TemporaryFolder

  init() throws {
    fixture = try ProjectFixture("v: 1\ncases:\n  motion: {pipeline: motion.json}\n")
    outside = try TemporaryFolder()
    try fixture.record("yard")
  }

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: fixture.folder.file(name).path, withDestinationPath: target)
  }

  private func code(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return (error as? any CodedError)?.code
    }
  }

  // MARK: Images

  /// The smallest PNG: one gray pixel.
  private static let picture = Data(
    base64Encoded:
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJ"
      + "RU5ErkJggg==")

  private func replayImages(_ path: String, trusted: Bool = false) throws {
    let document = """
      {"v": 1, "name": "stills",
       "nodes": [
        {"id": "camera", "kind": "images", "options": {"path": "\(path)"}},
        {"id": "out", "kind": "results"}],
       "edges": [{"from": "camera", "to": "out"}]}
      """
    try fixture.folder.write(document, to: "stills.json")
    var project = try fixture.project()
    if trusted { project.places = .asNamed }
    let definition = CaseDefinition(name: "stills", pipeline: "stills.json")
    _ = try ReplayJob(project: project, definition: definition, session: nil).run()
  }

  @Test func `images outside of the project are not read`() throws {
    let picture = try #require(Self.picture)
    let (secret, own) = (outside.file("secret.png"), fixture.folder.file("frames/a.png"))
    try picture.write(to: secret)
    try FileManager.default.createDirectory(
      at: own.deletingLastPathComponent(), withIntermediateDirectories: true)
    try picture.write(to: own)
    #expect(code { try replayImages(own.path) } == nil)

    let named = outside.url.path
    #expect(code { try replayImages(secret.path) } == "suite.input.outside")
    #expect(code { try replayImages(named) } == "suite.input.outside")
    #expect(code { try replayImages(own.path + "/../../../" + "etc") } == "suite.input.outside")
    try link("elsewhere", to: named)
    #expect(
      code { try replayImages(fixture.folder.file("elsewhere").path) } == "suite.input.outside")
    try link("frames/b.png", to: secret.path)
    #expect(
      code { try replayImages(fixture.folder.file("frames").path) } == "suite.input.outside",
      "one image of the folder is a link")
    #expect(code { try replayImages(secret.path, trusted: true) } == nil)
  }

  // MARK: Costs

  @Test func `timings and a profile outside of the project are not read`() throws {
    try outside.write(#"{"v": 1, "name": "secret"}"#, to: "slow.json")
    let secret = outside.file("slow.json").path
    for costs in ["profile:\(secret)", "timings:\(secret)"] {
      try fixture.folder.write(
        "v: 1\ncases:\n  motion: {pipeline: motion.json, costs: '\(costs)'}\n", to: "retake.yml")
      let error = try #require(try fixture.test().document.cases.first?.error)
      #expect(error.code == "suite.input.outside")
      #expect(error.advice?.contains("--allow-outside") == true, "\(error)")
    }
    try link("slow.json", to: secret)
    try fixture.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json, costs: 'profile:slow.json'}\n",
      to: "retake.yml")
    #expect(try fixture.test().document.cases.first?.error?.code == "suite.input.outside")
  }

  // MARK: Pending goldens

  @Test func `nothing is left pending behind a link out of the project`() throws {
    try link("artefacts", to: outside.url.path)
    for folder in ["artefacts", "artefacts/deeper"] {
      #expect(
        code { _ = try fixture.test { $0.pendingFolder = folder } } == "suite.output.notWritable")
      #expect(
        code { _ = try fixture.accept { $0.pendingFolder = folder } } == "suite.output.notWritable")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: outside.url.path).isEmpty)
    // A person may name another folder outright.
    #expect(try fixture.test { $0.pendingFolder = outside.url.path }.status == .missingGolden)
  }

  // MARK: The cache

  @Test func `a cache that looks like a repository is asked about in the one above`() throws {
    func git(_ words: String..., folder: URL) throws {
      let result = try runCommand(
        "git", arguments: ["-c", "user.name=a", "-c", "user.email=a@example.org"] + words,
        environment: ["GIT_CONFIG_GLOBAL": "/dev/null"], folder: folder)
      try #require(result.status == 0, "\(result.stderr)")
    }
    let cache = fixture.folder.file(".retake/cache")
    try FileManager.default.createDirectory(at: cache, withIntermediateDirectories: true)
    try git("init", "-q", folder: fixture.folder.url)
    #expect(TrackedFiles.first(in: cache.path) == nil)
    try git("init", "-q", "--bare", folder: cache)
    try fixture.folder.write("x", to: ".retake/cache/values.pack")
    #expect(TrackedFiles.first(in: cache.path) == nil)
    try git("add", "-f", ".retake/cache/values.pack", folder: fixture.folder.url)
    #expect(TrackedFiles.first(in: cache.path) == "values.pack")
  }
}
