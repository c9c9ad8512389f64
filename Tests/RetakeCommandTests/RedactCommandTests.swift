import Foundation
import RetakeProcess
import RetakeTestSupport
import Testing

@Suite(.oneAtATime) struct RedactCommandTests {
  private static let pipeline = ["--pipeline", "example:motion-boxes"]

  @Test func `a copy is clean, names the uncertain frames, and has no note or source`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 40)
    #expect(try workplace.retake("session", "note", "yard", "gate 3").status == 0)
    let words = ["session", "redact", "yard", "--as", "yard-public"] + Self.pipeline
    let result = try workplace.retake(words: words)
    #expect(result.status == 0, "\(result.stderr)")
    #expect(result.stdout.hasPrefix("clean  40 frames, "), "\(result.stdout)")
    #expect(result.stdout.contains(" averaged  ") && result.stdout.contains(" uncertain\n"))
    // The first frame has no frame before it that it could differ from.
    #expect(result.stderr.contains("before you share the copy: 0"), "\(result.stderr)")
    #expect(result.stderr.contains("yard-public --start 0"), "\(result.stderr)")
    let info = try workplace.retake("session", "info", "yard-public", "--json").json()
    #expect(info.note.text == nil && info.source.text == nil && info.started.text == nil)
    #expect(try workplace.retake("session", "check", "yard-public", "--deep").status == 0)
    #expect(try workplace.retake("session", "pack", "yard-public", "--as", "a.tar.zst").status == 0)
    let unpacked = try workplace.retake("session", "unpack", "a.tar.zst", "--into", "Other")
    #expect(unpacked.status == 0, "\(unpacked.stderr)")
    #expect(workplace.exists("Other/yard-public/media/redaction.jsonl"))

    try workplace.folder.write("a key of at least 16 bytes", to: "parents.key")
    let keyed = try workplace.retake(
      words: ["session", "redact", "yard", "--as", "yard", "--into", "Public", "--json"]
        + ["--key", "parents.key", "--quiet"] + Self.pipeline)
    #expect(keyed.status == 0 && keyed.stderr.isEmpty, "\(keyed.stderr)")
    let json = try keyed.json()
    #expect(json.parent.text?.count == 64 && json.frames.int == 40)
    #expect(json.path.text?.hasSuffix("/Public/yard") == true)
    let taken = try workplace.retake(words: words)
    #expect(taken.status == 2 && taken.stderr.contains("[session.name.taken]"))
    #expect(taken.stderr.contains("with --as") && !taken.stderr.contains("--name"))
  }

  @Test func `the commands for the goldens of a copy compare and accept them`() throws {
    let workplace = try Workplace()
    try workplace.writePipeline()
    try workplace.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\n", to: "retake.yml")
    try workplace.record("yard", frames: 40)
    // Its time line does not begin at zero.
    let trimmed = try workplace.retake(
      "session", "trim", "yard", "--from", "500ms", "--name", "late")
    try #require(trimmed.status == 0, "\(trimmed.stderr)")
    let words = ["session", "redact", "yard", "--pipeline", "motion", "--as"]
    let plain = try workplace.retake(words: words + ["plain"])
    #expect(plain.status == 0 && !plain.stderr.contains("retake diff"), "\(plain.stderr)")
    for session in ["yard", "late"] {
      #expect(try workplace.retake("test", session).status == 3)
      #expect(try workplace.retake("accept", session, "--reason", "first").status == 0)
      let copy = "\(session)-public"
      let redacted = try workplace.retake(
        "session", "redact", session, "--pipeline", "motion", "--as", copy)
      try #require(redacted.status == 0, "\(redacted.stderr)")
      let test = "retake test \(copy) --pipeline motion"
      let diff = "retake diff Goldens/\(session)/motion Goldens/\(copy)/motion"
      let accept = "retake accept \(copy) --reason 'redacted copy of \(session)'"
      #expect(
        redacted.stderr.contains("\n  \(test)\n  \(diff)\n  \(accept)\n"), "\(redacted.stderr)")
      #expect(try workplace.type(test).status == 3)
      let difference = try workplace.type(diff)
      #expect(difference.status == 1, "\(difference.stdout)")
      // Frames are paired, and only boxes differ.
      let frames = session == "yard" ? 40 : 25
      #expect(difference.stdout.contains("\(frames) frames compared"), "\(difference.stdout)")
      #expect(difference.stdout.contains("boxes"), "\(difference.stdout)")
      #expect(!difference.stdout.contains("virtual time"), "\(difference.stdout)")
      #expect(!difference.stdout.contains("run's start"), "\(difference.stdout)")
      #expect(!difference.stdout.contains("presentation time"), "\(difference.stdout)")
      let accepted = try workplace.type(accept)
      #expect(accepted.status == 0, "\(accepted.stderr)")
      let golden = try String(
        contentsOf: workplace.folder.file("Goldens/\(copy)/motion/golden.yml"), encoding: .utf8)
      #expect(golden.contains("redacted copy of \(session)"))
      #expect(try workplace.type(test).status == 0)
    }
    let named = try workplace.retake(words: words + ["yard", "--into", "Public"])
    #expect(named.status == 0 && named.stderr.contains("choose another name with --as"))
  }

  @Test func `bad input makes no copy, and says what to type`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 6, size: "64x48")
    try workplace.folder.write("short", to: "short.key")
    let before = try workplace.listing()
    for (words, part) in [
      (["yard"] + Self.pipeline + ["--key", "short.key"], "openssl rand -out"),
      (["yard", "--pipeline", "none.json"], "[suite.select.noPipeline]"),
      (["nothing"] + Self.pipeline, "[suite.select.noSession]"),
      (["yard", "--pipeline", "example:downsample-digest"], "--overlay boxes.mp4"),
      (["yard"] + Self.pipeline + ["--track", "7"], "[runtime.source.noSuchTrack]"),
    ] {
      let result = try workplace.retake(words: ["session", "redact", "--as", "b"] + words)
      #expect(result.status == 2, "\(words): \(result.stderr)")
      #expect(result.stderr.contains(part), "\(words): \(result.stderr)")
    }
    #expect(try workplace.listing() == before)
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `a copy that is stopped is not there`(signal: Int32) throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 600, size: "320x240")
    let before = try workplace.listing()
    let words = ["session", "redact", "yard", "--into", "Public", "--as", "b"] + Self.pipeline
    var run = try LongRun(words, in: workplace)
    let limit = ContinuousClock.now + .seconds(ChildProcess.secondsMax)
    // Checked without a pause, because the copy lasts only a few seconds. On a busy machine it may
    // be complete before this check; then it is repeated.
    while true {
      while run.isRunning, !workplace.exists("Public") {}
      run.hold()
      guard workplace.exists("Public/b"), ContinuousClock.now < limit else { break }
      _ = run.end(SIGKILL)
      try FileManager.default.removeItem(at: workplace.folder.file("Public"))
      run = try LongRun(words, in: workplace)
    }
    try #require(!workplace.exists("Public/b"), "the copy was complete before it was stopped")
    let status = run.end(signal)
    #expect(status == 130)
    #expect(try workplace.listing() == before)
  }
}
