import Foundation
import RetakeTestSupport
import Testing

/// Where a project is, and the effect of a new session or a copy on its suite.
@Suite struct ProjectPlaceTests {
  private static let project = """
    v: 1
    cases:
      motion: {pipeline: motion.json}
    suites:
      default:
        - {sessions: ["yard*"], cases: [motion]}

    """

  private func workplace() throws -> Workplace {
    let workplace = try Workplace()
    try workplace.writePipeline()
    try workplace.folder.write(Self.project, to: "retake.yml")
    return workplace
  }

  /// Runs `retake` in a folder below the workplace.
  private func retake(in folder: String, of workplace: Workplace, _ words: String...) throws
    -> CommandResult
  {
    let url = workplace.folder.file(folder)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return try runCommand(
      Workplace.binary, arguments: words, environment: ["CI": nil, "RETAKE_PENDING_DIR": nil],
      folder: url)
  }

  @Test func `in a folder below a project, errors say where the project is`() throws {
    let workplace = try workplace()
    let way =
      "\n  The retake.yml of this project is in another folder, where commands run: cd "
      + workplace.folder.url.resolvingSymlinksInPath().path + "\n"
    for words in [["test"], ["test", "--suite", "slow"], ["accept", "--reason", "x"]] {
      let result = try runCommand(
        Workplace.binary, arguments: words, environment: ["CI": nil, "RETAKE_PENDING_DIR": nil],
        folder: try made("Sources/inner", in: workplace))
      #expect(result.stderr.contains(way), "\(words): \(result.stderr)")
    }
    let unnamed = try retake(in: "Sources", of: workplace, "replay", "yard")
    #expect(unnamed.status == 64)
    #expect(unnamed.stderr.contains("There is no retake.yml in /"), "\(unnamed.stderr)")
    #expect(unnamed.stderr.contains("where commands run: cd /"), "\(unnamed.stderr)")
    let doctor = try retake(in: "Sources", of: workplace, "doctor")
    #expect(doctor.stdout.contains("advised retake.yml  not here: the file of this project"))
    // In the project's own folder there is no note.
    #expect(try !workplace.retake("test").stderr.contains("another folder"))
  }

  private func made(_ folder: String, in workplace: Workplace) throws -> URL {
    let url = workplace.folder.file(folder)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url
  }

  @Test func `a project beyond the repository's root is not this one's`() throws {
    let workplace = try workplace()
    _ = try made("other/.git", in: workplace)
    let result = try retake(in: "other/inner", of: workplace, "test")
    #expect(result.status == 4)
    #expect(!result.stderr.contains("another folder"), "\(result.stderr)")
    #expect(result.stderr.contains("there is no retake.yml in /"), "\(result.stderr)")
  }

  @Test func `doctor reads the pipeline and the files of each case`() throws {
    let workplace = try workplace()
    #expect(!(try workplace.retake("doctor").stdout.contains("case motion")))
    try workplace.folder.write(
      """
      v: 1
      cases:
        gone: {pipeline: Pipelines/gone.json}
        motion: {pipeline: motion.json}
        odd: {pipeline: odd.json}
        slow: {pipeline: motion.json, mode: simulate, costs: "profile:phone.json"}
        timed: {pipeline: motion.json, mode: simulate, costs: timings}
      suites:
        default: [{sessions: ["yard", "y*"], cases: [motion]}]

      """, to: "retake.yml")
    try workplace.writePipeline(
      "odd.json", replacing: "\"threshold\": 24", with: "\"treshold\": 24")
    let doctor = try workplace.retake("doctor")
    #expect(doctor.status == 2)
    let lines = doctor.stdout.split(separator: "\n").map(String.init)
    func check(_ start: String, _ words: String) {
      #expect(
        lines.contains { $0.hasPrefix(start) && $0.contains(words) }, "\(start): \(doctor.stdout)")
    }
    check("invalid case gone  ", "there is no pipeline file 'Pipelines/gone.json'")
    check("invalid case odd  ", "'motion' has no option 'treshold'")
    check("invalid case slow  ", "phone.json")
    check("advised suite default  ", "there is no session 'yard'")
    #expect(!lines.contains { $0.contains("case motion") || $0.contains("case timed") })
  }

  @Test func `footage that no suite selects is said at its import`() throws {
    let workplace = try workplace()
    try workplace.ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10:duration=1", "gate.mp4")
    let left = try workplace.retake("import", "gate.mp4")
    #expect(
      left.stderr.contains(
        "note: the suite 'default' of retake.yml does not select 'gate': to test it, add it to"),
      "\(left.stderr)")
    let taken = try workplace.retake("import", "gate.mp4", "--name", "yard-2")
    #expect(!taken.stderr.contains("does not select"), "\(taken.stderr)")
    let outside = try workplace.retake("import", "gate.mp4", "--into", "Elsewhere")
    #expect(!outside.stderr.contains("does not select"), "\(outside.stderr)")
  }

  @Test func `a copy that becomes a case of its own is said, with the way around it`() throws {
    let workplace = try workplace()
    try workplace.record("yard", frames: 30, size: "64x48")
    let note = "note: the suite 'default' of retake.yml selects 'yard-fast' as well"
    let copied = try workplace.retake("session", "transcode", "yard", "--force")
    #expect(copied.status == 0 && copied.stderr.contains(note), "\(copied.stderr)")
    let trimmed = try workplace.retake("session", "trim", "yard", "--from", "500ms")
    #expect(trimmed.stderr.contains("selects 'yard-trim' as well"), "\(trimmed.stderr)")
    let elsewhere = try workplace.retake(
      "session", "transcode", "yard", "--force", "--into", "Fast")
    #expect(elsewhere.status == 0 && !elsewhere.stderr.contains("as well"), "\(elsewhere.stderr)")
  }

  @Test func `a new project tests what is imported later, too`() throws {
    let workplace = try Workplace()
    try workplace.record("gate", frames: 6, size: "64x48")
    #expect(try workplace.retake("init").status == 0)
    try workplace.record("yard", frames: 6, size: "64x48")
    let tested = try workplace.retake("test", "--json").json()
    #expect(
      (0..<2).map { tested.cases[$0].session.text } == ["gate", "yard"] && tested.cases.count == 2)
  }
}
