import Foundation
import RetakeTestSupport
import Testing

/// Mistakes in every name that a user may type: each is a short error with a remedy, the right
/// status, and no incomplete file.
@Suite struct BadInputTests {
  /// Expects an error with its code and advice on standard error, and an unchanged folder.
  private func expectTrouble(
    _ code: String, _ words: [String], in workplace: Workplace, says: String? = nil,
    status: Int32 = 2,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try workplace.listing()
    let result = try workplace.retake(words: words)
    #expect(result.status == status, "\(result.stderr)", sourceLocation: sourceLocation)
    #expect(result.stdout.isEmpty, sourceLocation: sourceLocation)
    let lines = result.stderr.split(separator: "\n")
    #expect(lines.count == 2, "\(result.stderr)", sourceLocation: sourceLocation)
    #expect(lines.first?.hasPrefix("error: ") == true, sourceLocation: sourceLocation)
    #expect(
      lines.first?.hasSuffix("[\(code)]") == true, "\(result.stderr)",
      sourceLocation: sourceLocation)
    #expect(lines.last?.hasPrefix("  ") == true, sourceLocation: sourceLocation)
    #expect(result.stderr.utf8.count < 600, sourceLocation: sourceLocation)
    if let says {
      #expect(result.stderr.contains(says), "\(result.stderr)", sourceLocation: sourceLocation)
    }
    #expect(try workplace.listing() == before, sourceLocation: sourceLocation)
  }

  @Test func `no command writes into a session`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 6)
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30", "-frames:v", "6", "clip.mp4")
    try FileManager.default.copyItem(
      at: workplace.folder.file("clip.mp4"), to: workplace.folder.file("*.mp4"))
    try expectTrouble(
      "session.name.bad", ["import", "*.mp4"], in: workplace,
      says: "no name can be made from '*'", status: 64)
    let inSession = "session.output.inSession"
    try expectTrouble(
      inSession, ["session", "export", "yard", "--csv", "Recordings/yard/x.csv"], in: workplace)
    try expectTrouble(
      inSession, ["import", "clip.mp4", "--into", "Recordings/yard"], in: workplace)
    try expectTrouble(
      inSession, ["record", "synthetic:figures", "--into", "Recordings/yard/media"], in: workplace)
    try expectTrouble(
      "suite.output.overInput",
      ["replay", "yard", "--pipeline", "example:motion-boxes", "--output", "Recordings/yard/run"],
      in: workplace)
    try expectTrouble(
      "session.output.file", ["import", "clip.mp4", "--into", "clip.mp4"], in: workplace,
      says: "--into names a file", status: 64)
  }

  @Test(arguments: [
    (["import", ""], "the file's name is empty"), (["record", ""], "the file's name is empty"),
    (["test", "--report", ""], "--report"),
    (["record", "synthetic:figures", "--duration", "-1s"], "'--duration -1s' is not a time"),
    (["record", "synthetic:figures", "--frames", "99999999999999999999"], "it is too large"),
    (["init", "--bogus"], "Unknown option '--bogus'\n"),
  ])
  func `an argument that cannot be used says why`(words: [String], says: String) throws {
    let result = try Workplace().retake(words: words)
    #expect(result.status == 64, "\(result.stderr)")
    #expect(result.stderr.contains(says), "\(result.stderr)")
  }

  @Test func `only documents with nodes are suggested as pipelines`() throws {
    let workplace = try Workplace()
    try workplace.writePipeline("motion.json")
    try workplace.folder.write("{\"v\": 1, \"scale\": {}}", to: "motio.json")
    try workplace.folder.write("[1, 2]", to: "motiom.json")
    let result = try workplace.retake("pipeline", "check", "motiox.json")
    #expect(result.status == 2)
    #expect(result.stderr.contains("Did you mean 'motion.json'?"), "\(result.stderr)")
    #expect(!result.stderr.contains("motio.json") && !result.stderr.contains("motiom"))
  }

  @Test(arguments: [
    ("notes.mp4", "some words, and no video\n", "media.open.notMedia"),
    ("empty.mp4", "", "media.open.empty"),
    (
      "list.mkv", "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n/etc/passwd\n",
      "media.open.playlist"
    ),
    ("folder.mp4/clip", "", "bag.open.notBag"),
    ("", "", "media.open.missing"),
  ])
  func `a file that is no footage is not imported`(
    file: String, content: String, code: String
  ) throws {
    let workplace = try Workplace()
    if !file.isEmpty { try workplace.folder.write(content, to: file) }
    let named = file.isEmpty ? "absent.mp4" : String(file.split(separator: "/")[0])
    try expectTrouble(code, ["import", named], in: workplace, says: named)
  }

  @Test func `footage cut short is refused, and a track that is not there`() throws {
    let workplace = try Workplace()
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30", "-frames:v", "60", "-c:v", "libx264",
      "-pix_fmt", "yuv420p", "clip.mp4")
    let bytes = try Data(contentsOf: workplace.folder.file("clip.mp4"))
    try bytes.prefix(bytes.count / 2).write(to: workplace.folder.file("cut.mp4"))
    try expectTrouble("media.open.noIndex", ["import", "cut.mp4"], in: workplace)
    try expectTrouble(
      "media.demux.noTrack", ["import", "clip.mp4", "--track", "7"], in: workplace,
      says: "--track 0")

    #expect(try workplace.retake("import", "clip.mp4").status == 0)
    try expectTrouble("session.name.taken", ["import", "clip.mp4"], in: workplace, says: "--name")
    try expectTrouble(
      "runtime.source.noSuchTrack",
      [
        "replay", "clip", "--pipeline", "example:motion-boxes", "--track", "7", "--output", "run",
        "--decisions", "lines.txt",
      ], in: workplace, says: "track 0")
  }

  @Test(arguments: [
    ("\"motion\", \"options\"", "\"moton\", \"options\"", "unknownKind", "'motion'"),
    ("\"threshold\"", "\"treshold\"", "badOption", "'threshold'"),
    ("\"capacity\"", "\"capcity\"", "unknownKey", "'capacity'"),
    ("dropNewest", "dropNewset", "wrongValue", "'dropNewest'"),
    (
      "\"to\": \"boxes\"}", "\"to\": \"boxes\"}, {\"from\": \"motion\", \"to\": \"grey\"}", "cycle",
      "grey → motion → grey"
    ),
    ("{\"v\": 1", "{\"v\": 1,", "malformed", "retake pipeline example"),
    ("\"v\": 1", "\"v\": 9", "newerVersion", "9"),
  ])
  func `a pipeline with a mistake is refused with its place, before anything is written`(
    old: String, new: String, code: String, says: String
  ) throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 3, size: "64x48")
    try workplace.writePipeline(replacing: old, with: new)
    let code = "graph.pipeline.\(code)"
    try expectTrouble(code, ["pipeline", "check", "motion.json"], in: workplace, says: says)
    try expectTrouble(
      code,
      [
        "replay", "yard", "--pipeline", "motion.json", "--output", "run", "--decisions",
        "lines.txt",
      ], in: workplace, says: says)
  }

  @Test func `names that are not there suggest the right ones`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 3, size: "64x48")
    let pipeline = ["--pipeline", "example:motion-boxes"]
    try expectTrouble(
      "suite.select.noSession", ["replay", "yrad"] + pipeline, in: workplace,
      says: "Did you mean 'yard'?")
    try expectTrouble(
      "suite.select.noPipeline", ["replay", "yard", "--pipeline", "example:motion-boxs"],
      in: workplace, says: "Did you mean 'example:motion-boxes'?")
    try expectTrouble(
      "replay.case.unknownSource", ["replay", "yard", "--track", "camra=0"] + pipeline,
      in: workplace, says: "Did you mean 'camera'?")
    try expectTrouble("suite.diff.noGolden", ["diff", "a", "b"], in: workplace)
    try expectTrouble("suite.accept.nothingPending", ["accept", "--reason", "x"], in: workplace)
    try expectTrouble(
      "record.name.taken",
      ["record", "synthetic:figures", "--name", "yard", "--frames", "3", "--speed", "max"],
      in: workplace)
    try expectTrouble(
      "suite.record.noScene", ["record", "synthetic:figurs"], in: workplace,
      says: "Did you mean 'figures'?", status: 64)
    try expectTrouble("suite.record.noFile", ["record", "absent.mp4"], in: workplace)
    try expectTrouble(
      "record.preset.unknown", ["record", "synthetic:figures", "--preset", "mpeg5"], in: workplace,
      says: "Did you mean", status: 64)
    try expectTrouble(
      "suite.select.unreadable", ["replay", "yard", "--pipeline", "Recordings"], in: workplace,
      says: "it is a folder")
    try expectTrouble(
      "suite.select.noPipeline", ["replay", "yard", "--pipeline", "Pipelines/absent.json"],
      in: workplace, says: "Check the path")
  }

  @Test func `a place that cannot be written is an error before anything runs`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 3, size: "64x48")
    try workplace.folder.write("mine", to: "taken/file.txt")
    let replay = ["replay", "yard", "--pipeline", "example:motion-boxes"]
    try expectTrouble("suite.output.exists", replay + ["--output", "taken"], in: workplace)
    #expect(try workplace.retake("test", "yard", "--pipeline", "example:motion-boxes").status == 3)
    #expect(try workplace.retake("accept", "--reason", "first golden").status == 0)
    try expectTrouble(
      "suite.output.exists", replay + ["--output", "Goldens/yard/motion-boxes"], in: workplace)
    try expectTrouble(
      "replay.decisions.unwritable", replay + ["--decisions", "absent/lines.txt"], in: workplace)
    try expectTrouble(
      "replay.decisions.unwritable", replay + ["--decisions", "taken"], in: workplace)
  }

  @Test func `damaged media ends with 2, names the frame, and leaves nothing`() throws {
    let workplace = try Workplace()
    try workplace.record("yard")
    let media = workplace.folder.file("Recordings/yard/media/video-00000.mkv")
    var bytes = try Data(contentsOf: media)
    bytes[bytes.count / 2] ^= 0xff
    try bytes.write(to: media)
    try expectTrouble(
      "session.media.mismatch",
      [
        "replay", "yard", "--pipeline", "example:motion-boxes", "--output", "run", "--decisions",
        "lines.txt",
      ], in: workplace, says: "frame 0:")
    try expectErrored(workplace, code: "session.media.mismatch")
    let doctor = try workplace.retake("session", "check", "yard")
    #expect(doctor.status == 2)
    #expect(doctor.stdout.contains("is damaged"))
  }

  @Test func `exchanged rows end with 2 and name the frame, in every command that reads it`() throws
  {
    let workplace = try Workplace()
    try workplace.record("yard")
    let database = workplace.folder.file("Recordings/yard/session.sqlite").path
    _ = try runSQLite(
      arguments: [
        database,
        """
        UPDATE frame SET packet = 21 - packet, entry = min(entry, 21 - packet)
        WHERE sequence IN (10, 11)
        """,
      ])
    for words in [
      ["replay", "yard", "--pipeline", "example:motion-boxes"],
      ["session", "trim", "yard", "--from", "0s", "--into", "Trimmed"],
      ["session", "transcode", "yard", "--into", "Fast"],
    ] {
      let before = try workplace.listing()
      let result = try workplace.retake(words: words)
      #expect(result.status == 2, "\(words): \(result.stderr)")
      #expect(result.stderr.contains("track 0, sequence 10 "), "\(result.stderr)")
      #expect(result.stderr.contains("retake session check"), "\(result.stderr)")
      #expect(try workplace.listing() == before)
    }
    try expectErrored(workplace, code: "store.corrupt")
  }

  @Test func `rows that are missing are an error, never a stale golden`() throws {
    let workplace = try Workplace()
    try workplace.record("yard")
    #expect(try workplace.retake("test", "yard", "--pipeline", "example:motion-boxes").status == 3)
    #expect(try workplace.retake("accept", "--reason", "first golden").status == 0)
    #expect(try workplace.retake("test", "yard", "--pipeline", "example:motion-boxes").status == 0)
    let database = workplace.folder.file("Recordings/yard/session.sqlite").path
    _ = try runSQLite(
      arguments: [database, "DELETE FROM frame WHERE sequence = 5"])

    for words in [
      ["replay", "yard", "--pipeline", "example:motion-boxes"],
      ["verify", "yard", "--pipeline", "example:motion-boxes"],
      ["test", "yard", "--pipeline", "example:motion-boxes"],
      ["session", "trim", "yard", "--from", "0s", "--into", "Trimmed"],
      ["session", "export", "yard", "--media", "yard.mp4"],
      ["session", "export", "yard", "--csv", "-"],
    ] {
      let result = try workplace.retake(words: words)
      let text = result.stdout + result.stderr
      #expect(result.status == 2, "\(words): \(text)")
      #expect(text.contains("the row of frame with track 0, sequence 5 is missing"), "\(text)")
      #expect(text.contains("retake session check"), "\(text)")
      #expect(!text.contains("accept") && !text.contains("container"), "\(text)")
    }
    try expectErrored(workplace, code: "store.corrupt")
  }

  @Test func `an import says where time goes back, and so does info`() throws {
    let workplace = try Workplace()
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25", "-frames:v", "20", "-c:v", "libx264",
      "-pix_fmt", "yuv420p", "piece.ts")
    let piece = try Data(contentsOf: workplace.folder.file("piece.ts"))
    try (piece + piece).write(to: workplace.folder.file("joined.ts"))
    let imported = try workplace.retake("import", "joined.ts")
    #expect(imported.status == 0)
    #expect(imported.stderr.contains("note: track 0: time goes back by 760 ms at frame 20"))
    let info = try workplace.retake("session", "info", "joined")
    #expect(info.stdout.contains("time: track 0: time goes back by 760 ms at frame 20"))
    let document = try workplace.retake("session", "info", "joined", "--json").json()
    #expect(document.timeCount.int == 1 && document.times[0].kind.text == "back")
  }

  @Test(arguments: [(20_000, "store.truncated"), (0, "store.notSession")])
  func `a database cut short ends with 2`(length: Int, code: String) throws {
    let workplace = try Workplace()
    try workplace.record("yard")
    let database = workplace.folder.file("Recordings/yard/session.sqlite")
    try Data(contentsOf: database).prefix(length).write(to: database)
    try expectTrouble(
      code, ["replay", "yard", "--pipeline", "example:motion-boxes"], in: workplace,
      says: "--from-media")
    try expectErrored(workplace, code: code)
  }

  /// `test` reports for a broken session that the case could not be run.
  private func expectErrored(_ workplace: Workplace, code: String) throws {
    let before = try workplace.listing()
    let result = try workplace.retake(
      "test", "yard", "--pipeline", "example:motion-boxes", "--json")
    #expect(result.status == 2)
    let document = try result.json()
    #expect(document.cases[0].verdict.text == "errored")
    #expect(document.cases[0].error.code.text == code)
    #expect(document.exit.code.int == 2)
    #expect(try workplace.listing() == before)
  }

  @Test(arguments: [
    ["--size", "64x48"], ["--fps", "10"], ["--seed", "3"],
  ])
  func `options of a drawn scene are refused where they would have no effect`(
    words: [String]
  ) throws {
    let workplace = try Workplace()
    try workplace.folder.write("", to: "clip.mp4")
    for input in ["clip.mp4", "lavfi:testsrc2=size=64x48:rate=30", "http://127.0.0.1:1/x"] {
      try expectTrouble(
        "suite.record.sceneOnly", ["record", input] + words, in: workplace, says: words[0],
        status: 64)
    }
  }

  @Test(arguments: [
    (["--frames", "-1"], "--frames is at least 1"), (["--fps", "0"], "--fps is at least 1"),
    (["--track", "-1"], "--track is a number"),
    (["--min-free", "1"], "is not a size; use 64MiB, 2GB or 0"),
    (["--pipeline", "example:motion-boxes", "--workers", "0"], "besides the thread that decides"),
    (["--pipeline", "example:motion-boxes", "--workers", "-1"], "is not between 1 and 255"),
    (["--pre-trigger-memory", "5MiB"], "--pre-trigger-memory goes with --pre-trigger"),
  ])
  func `a number out of its range is said to be that`(words: [String], says: String) throws {
    let workplace = try Workplace()
    let result = try workplace.retake(words: ["record", "synthetic:figures"] + words)
    #expect(result.status == 64 && result.stderr.contains(says), "\(result.stderr)")
    #expect(try workplace.listing().isEmpty)
  }

  @Test func `the reserve may be nothing, and one that the disk has not says so`() throws {
    let workplace = try Workplace()
    let record = [
      "record", "synthetic:figures", "--size", "64x48", "--frames", "3", "--speed", "max",
    ]
    try expectTrouble(
      "record.disk.reserve", record + ["--min-free", "900TB"], in: workplace,
      says: "The disk has less than that")
    let result = try workplace.retake(words: record + ["--min-free", "0"])
    #expect(result.status == 0, "\(result.stderr)")
  }
}
