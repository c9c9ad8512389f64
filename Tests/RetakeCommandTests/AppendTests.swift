import Foundation
import RetakeTestSupport
import Testing

/// Chapters of one recording: `retake import A B C --append`, and what other commands do with the
/// session.
@Suite struct AppendTests {
  private let workplace: Workplace

  init() throws {
    workplace = try Workplace()
    for chapter in 0..<3 {
      try clip("GX0\(chapter + 1)0042.MP4", from: chapter * 25, count: 25)
    }
  }

  private func clip(_ name: String, from: Int, count: Int, _ size: String = "160x120") throws {
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25:duration=4", "-f", "lavfi", "-i",
      "sine=440:sample_rate=48000:duration=4", "-ss", "\(Double(from) / 25)", "-t",
      "\(Double(count) / 25)", "-pix_fmt", "yuv420p", "-threads", "1", "-c:v", "libx264", "-qp",
      "0", "-g", "10", "-bf", "2", "-c:a", "aac", name)
  }

  private static let files = ["GX010042.MP4", "GX020042.MP4", "GX030042.MP4"]

  @discardableResult
  private func append(_ words: String...) throws -> CommandResult {
    try workplace.retake(words: ["import"] + Self.files + ["--append"] + words)
  }

  @Test func `one command makes one session of three files, also as JSON`() throws {
    let text = try append()
    #expect(text.status == 0, "\(text.stderr)")
    #expect(text.stdout.contains("GX010042  clean") && text.stdout.contains("75 frames"))
    #expect(text.stderr.contains("note: GX020042.MP4 begins at frame 0:25 (1.000 s)"))
    let result = try append("--name", "ride", "--json")
    let document = try result.json()
    #expect(document.tracks.count == 1 && document.tracks[0].frames.int == 75)
    #expect(document.notes[1].text?.hasPrefix("GX030042.MP4 begins at frame 0:50") == true)
    let info = try workplace.retake("session", "info", "ride")
    #expect(info.stdout.contains("GX020042.MP4 begins at frame 0:25"))
    #expect(info.stdout.contains("GX010042.MP4, GX020042.MP4, GX030042.MP4"))
  }

  @Test func `without the flag there are three sessions and a note with the command`() throws {
    let result = try workplace.retake(words: ["import"] + Self.files)
    #expect(result.status == 0)
    for name in ["GX010042", "GX020042", "GX030042"] {
      #expect(workplace.exists("Recordings/\(name)"))
    }
    let command = "retake import GX010042.MP4 GX020042.MP4 GX030042.MP4 --append"
    #expect(result.stderr.split(separator: "\n").count { $0.hasSuffix(command) } == 1)

    // Side by side is not one after another.
    let wall = try workplace.retake(
      "session", "join", "GX010042", "GX020042", "--align", "wall")
    #expect(wall.status == 2)
    #expect(wall.stderr.contains("retake import GX010042.MP4 GX020042.MP4 --append"))
    let offset = try workplace.retake(
      "session", "join", "GX010042", "GX020042", "--align", "offset", "--offset", "1s", "--name",
      "both")
    #expect(offset.status == 0)
    #expect(offset.stderr.contains("look like chapters of one recording"))
  }

  @Test func `a note names at most ten files, and files that have one session name`() throws {
    let files = (101...112).map { "clip\($0).mp4" }
    let many = try workplace.retake(words: ["import"] + files)
    #expect(many.status == 2 && many.stderr.contains("12 files look like chapters"))
    #expect(many.stderr.contains("clip109.mp4, clip110.mp4 and 2 more\n"), "\(many.stderr)")
    let equal = try workplace.retake("import", "Größe.mp4", "Grüße.mp4", "b.mp4")
    #expect(
      equal.stderr.contains("session name 'Gr-e' is made from Größe.mp4, Grüße.mp4; import each"),
      "\(equal.stderr)")
    let broken = try workplace.retake("import", "gr\u{FFFD}n.mp4")
    #expect(broken.status == 2 && broken.stderr.contains("bytes that are not UTF-8"))
  }

  @Test func `options that do not fit are refused before anything is written`() throws {
    let refused: [([String], String)] = [
      (["GX010042.MP4", "--append"], "name all of them"),
      (["GX010042.MP4", "--overlap", "once"], "add --append"),
      (["GX010042.MP4", "GX020042.MP4", "--name", "a"], "--append"),
      (["GX010042.MP4", "Bags", "--append"], "import it alone"),
      (["GX020042.MP4", "GX010042.MP4", "--append"], "GX010042.MP4 GX020042.MP4 --append"),
      (["GX010042.MP4", "GX010042.MP4", "--append"], "each file of the recording once"),
    ]
    try workplace.folder.write("topics_with_message_count: []\n", to: "Bags/metadata.yaml")
    for (words, text) in refused {
      let result = try workplace.retake(words: ["import"] + words)
      #expect(result.status == 2 || result.status == 64, "\(words)")
      #expect(result.stderr.contains(text), "\(words): \(result.stderr)")
    }
    #expect(!workplace.exists("Recordings"))
  }

  @Test func `a replay has one result with any number of workers, and over the boundary`() throws {
    try append("--name", "ride")
    try clip("whole.mp4", from: 0, count: 75)
    try workplace.retake("import", "whole.mp4")
    func results(_ session: String, _ workers: Int) throws -> String {
      let run = try workplace.retake(
        "replay", session, "--pipeline", "example:motion-boxes", "--workers", "\(workers)",
        "--follow")
      try #require(run.status == 0, "\(run.stderr)")
      // The summary has the time that the run needed.
      return run.stdout.split(separator: "\n").filter { $0.contains("\"sinks\"") }
        .joined(separator: "\n")
    }
    let one = try results("ride", 1)
    #expect(one.split(separator: "\n").count == 75)
    for workers in [0, 2, 4, 8] { #expect(try results("ride", workers) == one) }
    // Motion is a difference between frames: a state that began again would differ at a boundary.
    #expect(try results("whole", 1) == one)
  }

  @Test func `an export without second copies names the commands that make it`() throws {
    try clip("a.mp4", from: 0, count: 30)
    try clip("b.mp4", from: 20, count: 30)
    let once = try workplace.retake(
      "import", "a.mp4", "b.mp4", "--append", "--overlap", "once", "--name", "once")
    try #require(once.status == 0 && once.stdout.contains("50 frames"), "\(once.stderr)")
    let refused = try workplace.retake("session", "export", "once", "--media", "x.mp4")
    #expect(refused.status == 2)
    let commands = try #require(refused.stderr.firstMatch(of: /frames: (retake .*) && (retake .*)/))
    for command in [commands.1, commands.2] {
      let words = command.split(separator: " ").dropFirst().map(String.init)
      let done = try workplace.retake(words: words)
      #expect(done.status == 0, "\(command): \(done.stderr)")
    }
    #expect(workplace.exists("x.mkv"))
  }

  @Test func `check, trim, transcode, export and snapshot work over the boundary`() throws {
    try append("--name", "ride")
    #expect(try workplace.retake("session", "check", "ride", "--deep").status == 0)
    let trimmed = try workplace.retake(
      "session", "trim", "ride", "--from", "0.6s", "--to", "2.4s", "--into", "Cut", "--json")
    #expect(trimmed.status == 0, "\(trimmed.stderr)")
    #expect(try workplace.retake("session", "check", "Cut/ride", "--deep").status == 0)
    let cut = try workplace.retake("session", "info", "Cut/ride").stdout
    #expect(cut.contains("GX020042.MP4 begins at frame 0:10 (0.400 s)"), "\(cut)")
    #expect(
      try workplace.retake("session", "info", "Cut/ride", "--json").json().tracks[0].frames.int
        == 45)
    #expect(try workplace.retake("session", "transcode", "ride").status == 0)
    #expect(try workplace.retake("session", "snapshot", "ride", "--into", "Copy").status == 0)
    #expect(try workplace.retake("session", "check", "Copy/ride").status == 0)

    let export = try workplace.retake("session", "export", "ride", "--media", "ride.mp4")
    #expect(export.status == 0, "\(export.stderr)")
    #expect(export.stderr.contains("the sound is left out; the originals have it: "))
    let frames = { (file: String) in
      try runCommand(
        "ffmpeg",
        arguments: ["-v", "error", "-i", file, "-map", "0:v", "-f", "framemd5", "-"],
        folder: workplace.folder.url
      ).stdout.split(separator: "\n").filter { !$0.hasPrefix("#") }
        .map { line in
          let fields = line.split(separator: ",")
          return fields.count == 6 ? "\(fields[2]) \(fields[5])" : ""
        }
    }
    try clip("whole.mp4", from: 0, count: 75)
    #expect(try frames("ride.mp4") == frames("whole.mp4") && frames("ride.mp4").count == 75)
  }

  @Test func `frames that repeat are left out with the option`() throws {
    try clip("more.mp4", from: 15, count: 60)
    let words = ["import", "GX010042.MP4", "more.mp4", "--append", "--json"]
    let kept = try workplace.retake(words: words + ["--name", "kept"]).json()
    #expect(kept.tracks[0].frames.int == 85)
    let once = try workplace.retake(words: words + ["--name", "once", "--overlap", "once"]).json()
    #expect(once.tracks[0].frames.int == 75)
  }

  @Test func `images and measurements are said to be imported otherwise`() throws {
    try workplace.folder.write("1\n", to: "nums/README")
    for number in 0..<2 {
      try workplace.ffmpeg(
        "-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", "1", "nums/\(number).png")
    }
    let images = try workplace.retake("import", "nums/0.png", "nums/1.png")
    #expect(images.status == 64)
    #expect(images.stderr.contains("retake import nums --rate N"), "\(images.stderr)")
    try workplace.folder.write("1\n", to: "DJI_0001.SRT")
    let log = try workplace.retake("import", "DJI_0001.SRT")
    #expect(log.status == 64)
    #expect(log.stderr.contains("retake import VIDEO --sensor DJI_0001.SRT"), "\(log.stderr)")
  }
}
