import Foundation
import RetakeStore
import RetakeTestSupport
import Testing

@Suite(.oneAtATime) struct SessionCommandTests {
  @Test func `a trimmed session replays, and says what was encoded again`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 60, size: "64x48")
    let result = try workplace.retake(
      "session", "trim", "yard", "--from", "500ms", "--to", "1500ms", "--into", "Recordings",
      "--name", "span")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(result.stdout.contains("30 frames"))
    #expect(result.stderr.contains("note: 15 frames depend on packets outside of the span"))
    let replay = try workplace.retake(
      "replay", "span", "--pipeline", "example:motion-boxes", "--json", "--output", "run")
    #expect(replay.status == 0, "\(replay.stderr)")
    #expect(try replay.json().frames.delivered.int == 30)
    let again = try workplace.retake(
      "session", "trim", "yard", "--from", "1s", "--into", "Recordings", "--name", "span")
    #expect(again.status == 2 && again.stderr.contains("[session.name.taken]"))
    let empty = try workplace.retake(
      "session", "trim", "yard", "--from", "10s", "--into", "Recordings", "--name", "late")
    #expect(empty.status == 2 && empty.stderr.contains("[session.trim.empty]"))
    #expect(!workplace.exists("Recordings/late"))
  }

  @Test func `a joined or recovered session keeps its notes, or says that one is gone`() throws {
    let workplace = try Workplace()
    for (name, note) in [("left", "gate 3"), ("right", "gate 4")] {
      let words = ["record", "synthetic:figures", "--frames", "12", "--size", "64x48"]
      let recorded = try workplace.retake(words: words + ["--name", name, "--note", note])
      #expect(recorded.status == 0, "\(recorded.stderr)")
    }
    let joined = try workplace.retake(
      "session", "join", "left", "right", "--align", "offset", "--offset", "0s", "--name", "both")
    #expect(joined.status == 0, "\(joined.stderr)")
    let both = try workplace.retake("session", "note", "both")
    #expect(both.stdout == "gate 3 + gate 4\n", "\(both)")

    let database = workplace.folder.file("Recordings/left/session.sqlite")
    try Data(repeating: 7, count: 8_192).write(to: database)
    let recovered = try workplace.retake("session", "recover", "left", "--from-media")
    #expect(recovered.status == 0, "\(recovered.stderr)")
    #expect((recovered.stdout + recovered.stderr).contains("the session's note"), "\(recovered)")
    let gone = try workplace.retake("session", "note", "left")
    #expect(gone.stdout.isEmpty && gone.stderr.contains("left has no note"), "\(gone)")
  }

  @Test func `many files are imported in one call, and a bad one does not end the others`() throws {
    let workplace = try Workplace()
    for name in ["a.mkv", "c.mkv"] {
      try workplace.ffmpeg(
        "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=0.4", "-c:v", "ffv1", name)
    }
    try workplace.folder.write("no video", to: "b.mkv")
    let result = try workplace.retake("import", "a.mkv", "b.mkv", "c.mkv")
    #expect(result.status == 2, "\(result)")
    #expect(result.stdout.contains("a  clean") && result.stdout.contains("c  clean"))
    #expect(!result.stdout.contains("next:"))
    #expect(result.stderr.contains("2 of 3: b.mkv"), "\(result.stderr)")
    #expect(result.stderr.hasSuffix("2 of 3 files imported; not imported:\n  b.mkv\n"))
    #expect(workplace.exists("Recordings/a") && workplace.exists("Recordings/c"))
    let named = try workplace.retake("import", "a.mkv", "c.mkv", "--name", "x")
    #expect(named.status == 64 && named.stderr.contains("are for one file"), "\(named.stderr)")
  }

  @Test func `a session that is not closed refuses a note`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 12, size: "64x48")
    let database = workplace.folder.file("Recordings/yard/session.sqlite").path
    let opened = try runCommand(
      "python3",
      arguments: [
        "-c",
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
          + "c.execute(\"delete from meta where key = 'closed'\"); c.commit()", database,
      ])
    try #require(opened.status == 0, "\(opened)")
    let refused = try workplace.retake("session", "note", "yard", "gate 3")
    #expect(refused.status == 2, "\(refused)")
    #expect(refused.stderr.contains("[session.open.notClosed]"), "\(refused)")
    #expect(refused.stderr.contains("session recover"), "\(refused)")
    #expect(try workplace.retake("session", "note", "yard").stdout.isEmpty)
  }

  @Test func `a note and a date come along with every copy, and change no digest`() throws {
    let workplace = try Workplace()
    let recorded = try workplace.retake(
      "record", "synthetic:figures", "--frames", "12", "--size", "64x48", "--name", "yard",
      "--probe", "skip", "--note", " gate 3, rain ")
    #expect(recorded.status == 0, "\(recorded.stderr)")
    let first = try workplace.retake("session", "info", "yard", "--json").json()
    #expect(first.note.text == "gate 3, rain")
    let date = try #require(first.started.text)
    #expect(date.contains(/^2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/))
    let list = try workplace.retake("session", "list")
    #expect(list.stdout.contains("  \(date)  gate 3, rain\n"))

    let changed = try workplace.retake("session", "note", "yard", "gate 4")
    #expect(changed.status == 0 && changed.stdout == "gate 4\n", "\(changed.stderr)")
    #expect(try workplace.retake("session", "check", "yard").status == 0)
    let second = try workplace.retake("session", "info", "yard", "--json").json()
    #expect(second.note.text == "gate 4")
    #expect(second.sessionDigest.text == first.sessionDigest.text)

    for words in [["trim", "--from", "100ms"], ["transcode"], ["snapshot"]] {
      let copy = try workplace.retake(
        words: ["session", words[0], "yard"] + words.dropFirst() + ["--into", words[0]])
      #expect(copy.status == 0, "\(copy.stderr)")
      let info = try workplace.retake("session", "info", "\(words[0])/yard", "--json").json()
      #expect(info.note.text == "gate 4" && info.started.text == date, "\(words)")
    }
    #expect(try workplace.retake("session", "note", "yard", "").status == 0)
    #expect(try workplace.retake("session", "info", "yard", "--json").json().note.text == nil)
    let long = String(repeating: "a", count: 4_097)
    let refused = try workplace.retake("session", "note", "yard", long)
    #expect(refused.status == 64 && refused.stderr.contains("[session.note.tooLong]"))
    let unrecorded = try workplace.retake("record", "synthetic:figures", "--note", long)
    #expect(unrecorded.status == 64 && !workplace.exists("Recordings/figures"))
  }

  @Test func `the advice of a lost database can be typed, and mends the session`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 20, size: "64x48")
    let digest = try workplace.retake("session", "info", "yard", "--json").json()
    let database = workplace.folder.file("Recordings/yard/session.sqlite")
    try Data(contentsOf: database).prefix(9_000).write(to: database)

    let info = try workplace.retake("session", "info", "yard")
    #expect(info.status == 2 && info.stderr.contains("[store.truncated]"))
    let doctor = try workplace.retake("session", "check", "yard")
    #expect(doctor.status == 2 && doctor.stdout.contains("cut short: 9000 of"))
    let advice = try #require(
      doctor.stdout.split(separator: "\n").first { $0.contains("--from-media") })
    let words = advice.drop { $0 != ":" }.dropFirst().split(separator: " ").dropFirst()

    let recovered = try workplace.retake(words: words.map(String.init))
    #expect(recovered.status == 0, "\(recovered.stderr)")
    #expect(recovered.stdout.contains("20 frames kept, 20 of them from the media"))
    #expect(recovered.stdout.contains("  incomplete: the index was made again from the media"))
    let quick = try workplace.retake("session", "check", "yard")
    #expect(quick.stdout.contains("20 packets checked; --deep also decodes the frames"))
    let deep = try workplace.retake("session", "check", "yard", "--deep")
    #expect(deep.status == 0)
    #expect(deep.stdout.contains(" frames checked"))
    let after = try workplace.retake("session", "info", "yard", "--json").json()
    #expect(after.frames.captured.int == digest.frames.captured.int)
    #expect(after.status.text == "lossy")
  }

  @Test func `a recovered session without a frame can be removed by the command in the note`()
    throws
  {
    let workplace = try Workplace()
    let folder = workplace.folder.file("Recordings/empty")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let writer = try StoreWriter(
      creating: folder.appending(path: "session.sqlite").path, durability: .recording)
    // As of a recorder that was killed before its first commit.
    let facts = [
      ("closed", "0"), ("kind", "recorded"), ("pace", "unpaced"), ("preset", "mjpeg"),
      ("source", "synthetic:figures"), ("libraries", "ffmpeg"),
    ]
    for (key, value) in facts { writer.setMeta(key, value) }
    try writer.commit()
    try writer.release()
    for _ in 0..<2 {
      let result = try workplace.retake("session", "recover", "empty")
      #expect(result.status == 0, "\(result.stderr)")
      #expect(
        result.stderr.contains("the session has no frame") && result.stderr.contains("rm -r "),
        "\(result.stderr)")
    }
  }

  @Test func `an unclosed session is called that, with the command that closes it`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 12, size: "64x48")
    let database = workplace.folder.file("Recordings/yard/session.sqlite").path
    let writer = try StoreWriter(continuing: database)
    writer.setMeta("closed", "0")
    try writer.commit()
    try writer.release()
    let command = "  close it: retake session recover "
    let list = try workplace.retake("session", "list")
    #expect(list.stdout.contains("yard  unclosed  ") && list.stdout.contains(command))
    let info = try workplace.retake("session", "info", "yard")
    #expect(info.stdout.contains("yard  unclosed, ") && info.stdout.contains(command))
    let recovered = try workplace.retake("session", "recover", "yard")
    #expect(recovered.status == 0 && recovered.stdout.hasPrefix("recovered: 12 frames kept"))
    let after = try workplace.retake("session", "list")
    #expect(after.stdout.contains("yard  recovered  ") && !after.stdout.contains(command))
  }

  @Test func `tables go to files and to standard output`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 12, size: "64x48")
    let csv = try workplace.retake("session", "export", "yard", "--csv", "frames.csv")
    #expect(csv.status == 0 && csv.stdout == "12 frames  frames.csv\n")
    let text = try String(contentsOf: workplace.folder.file("frames.csv"), encoding: .utf8)
    #expect(text.split(whereSeparator: \.isNewline).count == 13)
    let lines = try workplace.retake(
      "session", "export", "yard", "--rows", "packets", "--json-lines", "-")
    #expect(lines.stdout.split(separator: "\n").count == 12)
    let again = try workplace.retake("session", "export", "yard", "--csv", "frames.csv")
    #expect(again.status == 2 && again.stderr.contains("[session.export.exists]"))
    let none = try workplace.retake("session", "export", "yard", "--rows", "events", "--csv", "-")
    #expect(none.status == 2 && none.stderr.contains("the session has no events"))
  }

  @Test func `a recording under way is called that, and its snapshot is whole`() throws {
    let folder = try TemporaryFolder()
    // Unpaced, so that a busy machine loses no frame of it.
    let recording = try LiveRecording(
      ["lavfi:testsrc2=size=64x48:rate=30", "--speed", "max"], name: "yard", into: folder.url)
    recording.waitForCommit()
    func retake(_ arguments: String...) throws -> CommandResult {
      try runCommand(LiveRecording.binary, arguments: arguments)
    }
    let info = try retake("session", "info", recording.path, "--json").json()
    #expect(info.status.text == "recording")
    #expect(try retake("session", "list", "--from", folder.url.path).stdout.contains("recording"))
    let into = folder.file("Copies").path
    let snapshot = try retake("session", "snapshot", recording.path, "--into", into)
    #expect(snapshot.status == 0, "\(snapshot.stderr)")
    let doctor = try retake("session", "check", into + "/yard", "--deep", "--json")
    #expect(doctor.status == 0, "\(doctor.stdout)")
    #expect(try doctor.json().findings.count == 0)
    let live = try retake("session", "check", recording.path)
    #expect(live.status == 0 && live.stdout.contains("it is being recorded"), "\(live.stdout)")
    let trim = try retake(
      "session", "trim", recording.path, "--from", "0s", "--into", into, "--name", "cut")
    #expect(trim.status == 2 && trim.stderr.contains("[session.lock.held]"), "\(trim.stderr)")
    #expect(trim.stderr.contains(": retake (process "), "\(trim.stderr)")
    #expect(trim.stderr.contains("retake session snapshot "), "\(trim.stderr)")
    recording.send(SIGHUP)
    #expect(try retake("session", "info", recording.path, "--json").json().status.text == "clean")
  }

  @Test func `a name with a slash is refused with the nearest that is safe`() throws {
    let workplace = try Workplace()
    let result = try workplace.retake(
      "record", "synthetic:figures", "--name", "a/b", "--frames", "3", "--speed", "max")
    #expect(result.status == 64)
    #expect(result.stderr.contains("'a/b' cannot be a session's name [session.name.bad]"))
    #expect(result.stderr.contains("Write: --name a-b"))
    #expect(try workplace.listing().isEmpty)
  }

  @Test func `media goes into containers that are known, and no others`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 1, size: "64x48")
    for name in ["cp.xyz", "cp"] {
      let result = try workplace.retake("session", "export", "yard", "--media", name)
      #expect(result.status == 64 && result.stderr.contains("[session.export.container]"))
      #expect(result.stderr.contains(".avi, .mkv, .mov, .mp4"), "\(result.stderr)")
      #expect(!workplace.exists(name))
    }
    let whole = try workplace.retake("session", "export", "yard", "--media", "cp.mkv")
    #expect(whole.status == 0 && whole.stdout == "1 packet  cp.mkv\n", "\(whole.stdout)")
    let info = try workplace.retake("session", "info", "yard")
    #expect(info.stdout.contains("  1 frame, 0 damaged"), "\(info.stdout)")
  }

  @Test func `a track without frames is skipped with a note, in JSON too`() throws {
    let workplace = try Workplace()
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30", "-f", "lavfi", "-i",
      "testsrc2=size=64x64:rate=30:duration=1", "-map", "0", "-map", "1", "-frames:v:0", "10",
      "-filter:v:1", "trim=start_frame=100", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags",
      "+empty_moov+frag_keyframe", "two.mp4")
    let note = "track 1 (h264) has no frames and was skipped"
    let text = try workplace.retake("import", "two.mp4")
    #expect(text.status == 0 && text.stderr.contains("note: \(note)"), "\(text.stderr)")
    let json = try workplace.retake("import", "two.mp4", "--name", "again", "--json").json()
    #expect(json.notes[0].text == note && json.tracks.count == 1)
    #expect(json.frames.captured.int == 10)
  }

  @Test func `a recording without an end says what ends it`() throws {
    let workplace = try Workplace()
    // The source is a graph with an end, so that the test needs no signal; a scene has no end.
    let words = ["record", "lavfi:testsrc2=size=64x48:rate=10:duration=1", "--speed", "max"]
    let note = "note: recording until Ctrl-C, or until the source ends; --duration 10s or --frames"
    let endless = try workplace.retake(words: words + ["--name", "a"])
    #expect(endless.status == 0 && endless.stderr.hasPrefix(note), "\(endless.stderr)")
    for (index, more) in [["--frames", "3"], ["--duration", "1s"], ["--quiet"]].enumerated() {
      let result = try workplace.retake(words: words + more + ["--name", "b\(index)"])
      #expect(result.status == 0 && !result.stderr.contains("Ctrl-C"), "\(result.stderr)")
    }
  }

  @Test func `an export says which tracks its file does not have`() throws {
    let workplace = try Workplace()
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30", "-f", "lavfi", "-i",
      "testsrc2=size=64x64:rate=30", "-map", "0", "-map", "1", "-frames:v", "5", "-c:v", "ffv1",
      "two.mkv")
    try #require(try workplace.retake("import", "two.mkv").status == 0)
    func export(_ words: String...) throws -> CommandResult {
      try workplace.retake(words: ["session", "export", "two", "--media"] + words)
    }
    let first = try export("first.nut")
    #expect(first.status == 0)
    #expect(
      first.stderr
        == "note: track 1 of the session is left out; write each into a separate file: "
        + "--track 1\n")
    #expect(try export("json.nut", "--json").json()[0].otherTracks.list.count == 1)
    // A copy of the original file has both tracks; with `--track 1` the export has only track 1.
    #expect(try export("whole.mkv").stderr.isEmpty)
    let second = try export("second.mkv", "--track", "1")
    #expect(second.stderr.contains("track 0 of the session is left out"), "\(second.stderr)")
    let again = try workplace.retake("import", "second.mkv", "--json").json()
    #expect(again.tracks.count == 1 && again.tracks[0].width.int == 64)
  }

  @Test func `a session is not copied into itself`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 3, size: "64x48")
    let before = try workplace.listing()
    for into in ["Recordings", "Recordings/yard", "Recordings/../Recordings/yard/media"] {
      let result = try workplace.retake("session", "snapshot", "yard", "--into", into)
      #expect(result.status == 64, "\(result.stderr)")
      #expect(result.stderr.contains("[session.copy.intoItself]"), "\(result.stderr)")
    }
    #expect(try workplace.listing() == before)
  }

  @Test func `where there are no sessions yet the list says how to make one`() throws {
    let workplace = try Workplace()
    let list = try workplace.retake("session", "list")
    #expect(list.status == 2 && list.stderr.contains("[session.list.noFolder]"))
    #expect(list.stderr.contains("retake import FILE"), "\(list.stderr)")
    #expect(!list.stderr.contains("with: retake session list"), "\(list.stderr)")
  }
}
