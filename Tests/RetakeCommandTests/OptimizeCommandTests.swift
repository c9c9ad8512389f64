import Foundation
import Retake
import RetakeProcess
import RetakeTestSupport
import Testing

@Suite struct OptimizeCommandTests {
  @Test func `the goldens of a session pass on its replay copy of the same name`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 40, size: "98x74")
    try workplace.writePipeline()
    let pipeline = ["--pipeline", "motion.json"]
    let first = try workplace.retake(words: ["test", "yard"] + pipeline)
    #expect(first.status == 3, "\(first.stderr)")
    #expect(try workplace.retake("accept", "--reason", "first").status == 0)

    let result = try workplace.retake("session", "transcode", "yard", "--into", "Fast")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(result.stdout.contains("40 frames, raw: the original's pixels, bit for bit"))
    #expect(result.stdout.contains(" frames a second, the original "), "\(result.stdout)")
    // Whether the copy is faster depends on the machine. If it is not, that is reported.
    #expect(
      result.stderr.isEmpty || result.stderr.contains("not read faster than the original"),
      "\(result.stderr)")
    for cache in ["none", "auto", "auto"] {
      let passed = try workplace.retake(words: ["test", "Fast/yard", "--cache", cache] + pipeline)
      #expect(passed.status == 0, "\(passed.stdout) \(passed.stderr)")
    }
    let small = try workplace.retake(
      "session", "transcode", "yard", "--into", "Small", "--preset", "mjpeg")
    #expect(small.status == 0 && small.stderr.contains("its goldens will not be equal"))
    #expect(small.stdout.contains("mjpeg: other pixels than the original's"))
    let other = try workplace.retake(words: ["test", "Small/yard"] + pipeline)
    #expect(other.status == 5 && other.stdout.contains("another session digest"), "\(other.stdout)")
  }

  @Test func `without a folder the copy lies beside the original under a name of its own`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 10, size: "64x48")
    let result = try workplace.retake("session", "transcode", "yard", "--json")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(result.stderr.contains("note: goldens belong to the name of a session"))
    let json = try result.json()
    #expect(json.codec.text == "raw" && json.exact.value as? Bool == true)
    #expect(json.measuredFrames.int == 10)
    for rate in [json.framesPerSecond, json.originalFramesPerSecond] {
      #expect((rate.value as? Double).map { $0 > 0 } == true)
    }
    #expect(json.frames.int == 10 && json.path.text?.hasSuffix("/Recordings/yard-fast") == true)
    let again = try workplace.retake("session", "transcode", "yard-fast", "--as", "more")
    #expect(again.status == 2 && again.stderr.contains("[session.transcode.alreadyFast]"))
    let forced = try workplace.retake(
      "session", "transcode", "yard-fast", "--as", "more", "--force")
    #expect(forced.status == 0, "\(forced.stderr)")
    let taken = try workplace.retake("session", "transcode", "yard", "--force")
    #expect(taken.status == 2 && taken.stderr.contains("another name with --as"), "\(taken.stderr)")
    #expect(!taken.stderr.contains("--name"))
    // Only the name of the copy is given with --as.
    let media = workplace.folder.file("Recordings/yard/media")
    let hidden = workplace.folder.file("hidden")
    try FileManager.default.moveItem(at: media, to: hidden)
    let missing = try workplace.retake("session", "transcode", "yard", "--as", "lost")
    #expect(missing.status == 2 && missing.stderr.contains("import ORIGINAL --name"))
    #expect(!missing.stderr.contains("--as"), "\(missing.stderr)")
    try FileManager.default.moveItem(at: hidden, to: media)
    let preset = try workplace.retake("session", "transcode", "yard", "--preset", "row")
    #expect(preset.status == 64 && preset.stderr.contains("there are raw, "), "\(preset.stderr)")
    #expect(preset.stderr.contains("Did you mean --preset raw?") && !preset.stderr.contains("copy"))
    let nobody = try workplace.retake("session", "transcode", "nobody")
    #expect(nobody.status == 2 && nobody.stderr.contains("nobody"), "\(nobody.stderr)")
  }

  @Test(arguments: [SIGKILL, SIGINT])
  func `a copy that is stopped is not there, and the next one leaves nothing else`(
    signal: Int32
  ) throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 1_500, size: "320x240")
    let before = try workplace.listing()
    let words = ["session", "transcode", "yard", "--into", "Fast"]
    var run = try LongRun(words, in: workplace)
    func inside() -> [String] {
      (try? FileManager.default.contentsOfDirectory(
        atPath: workplace.folder.file("Fast").path)) ?? []
    }
    func hasMedia() -> Bool {
      inside().contains { name in
        let media = workplace.folder.file("Fast/\(name)/media").path
        return (try? FileManager.default.contentsOfDirectory(atPath: media))?.isEmpty == false
      }
    }
    let limit = ContinuousClock.now + .seconds(ChildProcess.secondsMax)
    // Checked without a pause, because the copy lasts only about a second. The process is then
    // stopped, so that it cannot end in the meantime. On a busy machine the copy may be complete
    // before this check; then it is repeated.
    while true {
      while run.isRunning, !hasMedia() {}
      run.hold()
      guard workplace.exists("Fast/yard/session.sqlite"), ContinuousClock.now < limit else { break }
      _ = run.end(SIGKILL)
      try FileManager.default.removeItem(at: workplace.folder.file("Fast"))
      run = try LongRun(words, in: workplace)
    }
    try #require(
      !workplace.exists("Fast/yard/session.sqlite"), "the copy was whole before it was stopped")
    let status = run.end(signal)
    #expect(status == (signal == SIGINT ? 130 : nil))
    #expect(!inside().contains("yard"))
    #expect(signal != SIGINT || inside().isEmpty)
    let again = try workplace.retake("session", "transcode", "yard", "--into", "Fast")
    #expect(again.status == 0, "\(again.stderr)")
    #expect(inside() == ["yard"])
    #expect(try workplace.retake("session", "check", "Fast/yard", "--deep").status == 0)
    #expect(try workplace.listing().filter { !$0.hasPrefix("Fast") } == before)
  }

  @Test(.enabled(if: Faults.mounts, "unshare may not mount a tmpfs here"))
  func `a disk without room is named with the figures before anything is written`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 300, size: "640x480")
    let script = """
      mkdir disk && mount -t tmpfs -o size=20m tmpfs disk || exit 99
      "$0" session transcode yard --into disk/Fast
      status=$?
      [ ! -e disk/Fast ] && exit "$status"
      """
    let result = try runCommand(
      "unshare", arguments: ["-m", "bash", "-c", script, Workplace.binary],
      environment: ["CI": nil], folder: workplace.folder.url)
    #expect(result.status == 2 && result.stderr.contains("[session.transcode.noRoom]"))
    #expect(result.stderr.contains("the copy needs about "), "\(result.stderr)")
  }
}
