import Foundation
import Retake
import RetakeTestSupport
import Testing

@Suite struct OptimiseCommandTests {
  @Test func `the goldens of a session pass on its replay copy of the same name`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 40, size: "98x74")
    try workplace.writePipeline()
    let pipeline = ["--pipeline", "motion.json"]
    let first = try workplace.retake(words: ["test", "yard"] + pipeline)
    #expect(first.status == 3, "\(first.stderr)")
    #expect(try workplace.retake("accept", "--reason", "first").status == 0)

    let result = try workplace.retake("session", "optimise", "yard", "--into", "Fast")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(result.stdout.contains("40 frames, raw: the original's pixels, bit for bit"))
    #expect(result.stderr.isEmpty)
    for cache in ["none", "auto", "auto"] {
      let passed = try workplace.retake(words: ["test", "Fast/yard", "--cache", cache] + pipeline)
      #expect(passed.status == 0, "\(passed.stdout) \(passed.stderr)")
    }
    let small = try workplace.retake(
      "session", "optimise", "yard", "--into", "Small", "--preset", "mjpeg")
    #expect(small.status == 0 && small.stderr.contains("its goldens will not be equal"))
    #expect(small.stdout.contains("mjpeg: other pixels than the original's"))
    let other = try workplace.retake(words: ["test", "Small/yard"] + pipeline)
    #expect(other.status == 5 && other.stdout.contains("another session digest"), "\(other.stdout)")
  }

  @Test func `without a folder the copy lies beside the original under a name of its own`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 10, size: "64x48")
    let result = try workplace.retake("session", "optimise", "yard", "--json")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(result.stderr.contains("note: goldens go by the session's name"))
    let json = try result.json()
    #expect(json.codec.text == "raw" && json.exact.value as? Bool == true)
    #expect(json.frames.int == 10 && json.path.text?.hasSuffix("/Recordings/yard-fast") == true)
    let again = try workplace.retake("session", "optimise", "yard-fast", "--as", "more")
    #expect(again.status == 2 && again.stderr.contains("[session.optimise.alreadyFast]"))
    let forced = try workplace.retake("session", "optimise", "yard-fast", "--as", "more", "--force")
    #expect(forced.status == 0, "\(forced.stderr)")
    let nobody = try workplace.retake("session", "optimise", "nobody")
    #expect(nobody.status == 2 && nobody.stderr.contains("nobody"), "\(nobody.stderr)")
  }

  @Test(arguments: [SIGKILL, SIGINT])
  func `a copy that is stopped is not there, and the next one leaves nothing else`(
    signal: Int32
  ) throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 1_500, size: "320x240")
    let before = try workplace.listing()
    let run = try LongRun(["session", "optimise", "yard", "--into", "Fast"], in: workplace)
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
    // Looked at without a pause: the copy takes a second or so.
    while run.isRunning, !hasMedia() {}
    let status = run.end(signal)
    guard !workplace.exists("Fast/yard/session.sqlite") else { return }
    #expect(status == (signal == SIGINT ? 130 : nil))
    #expect(!inside().contains("yard"))
    #expect(signal != SIGINT || inside().isEmpty)
    let again = try workplace.retake("session", "optimise", "yard", "--into", "Fast")
    #expect(again.status == 0, "\(again.stderr)")
    #expect(inside() == ["yard"])
    #expect(try workplace.retake("session", "doctor", "Fast/yard", "--deep").status == 0)
    #expect(try workplace.listing().filter { !$0.hasPrefix("Fast") } == before)
  }

  @Test func `a disk without room is named with the figures before anything is written`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 300, size: "640x480")
    let disk = workplace.folder.file("disk").path
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
    let mounted = try runCommand(
      "mount", arguments: ["-t", "tmpfs", "-o", "size=20m", "tmpfs", disk])
    // Only where the tests may mount; the library's own test needs no disk.
    guard mounted.status == 0 else { return }
    defer { _ = try? runCommand("umount", arguments: [disk]) }
    let result = try workplace.retake("session", "optimise", "yard", "--into", "disk/Fast")
    #expect(result.status == 2 && result.stderr.contains("[session.optimise.noRoom]"))
    #expect(result.stderr.contains("bytes are needed, "), "\(result.stderr)")
    #expect(!workplace.exists("disk/Fast"))
  }
}
