import Foundation
import Testing

/// Goldens of a session whose file lacks a picture, so that other frames are damaged.
@Suite struct DamagedGoldenTests {
  private static let text =
    "7 of 29 frames are damaged in the session and have no results: "
    + "0:4 to 0:10"

  /// - Parameter lost: The number of the packet that the file lacks; nil leaves all of them.
  private func project(lost: Int?) throws -> Workplace {
    let workplace = try Workplace()
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25", "-frames:v", "30", "-c:v", "libx264",
      "-g", "12", "-sc_threshold", "0", "-bf", "0", "-pix_fmt", "yuv420p", "whole.mp4")
    try workplace.ffmpeg(
      "-i", "whole.mp4", "-c", "copy", "-bsf:v", "noise=drop=eq(n\\,\(lost ?? -1))", "yard.mp4")
    try #require(try workplace.retake("import", "yard.mp4", "--name", "yard").status == 0)
    try #require(try workplace.retake("init").status == 0)
    return workplace
  }

  private func text(_ path: String, of workplace: Workplace) throws -> String {
    try String(contentsOf: workplace.folder.file(path), encoding: .utf8)
  }

  @Test func `a golden of damaged frames says so in the test, the report, accept and golden-yml`()
    throws
  {
    let workplace = try project(lost: 4)
    let tested = try workplace.retake("test", "--report", "report")
    #expect(tested.status == 3 && tested.stdout.contains("note: \(Self.text)"), "\(tested.stdout)")
    for file in ["report/summary.md", "report/report.html", "report/report.json"] {
      #expect(try text(file, of: workplace).contains(Self.text), "\(file)")
    }

    let json = try workplace.retake("accept", "--dry-run", "--reason", "first", "--json").json()
    #expect(json[0].captured.int == 29 && json[0].failed.int == 0)
    #expect(json[0].damaged.frames.int == 7 && json[0].damaged.first.sequence.int == 4)
    #expect(json[0].damaged.last.sequence.int == 10)
    let accepted = try workplace.retake("accept", "--reason", "first")
    #expect(accepted.status == 0)
    #expect(accepted.stdout.contains("new  29 frames  (\(Self.text))"), "\(accepted.stdout)")
    let golden = try text("Goldens/yard/motion-boxes/golden.yml", of: workplace)
    #expect(golden.contains(#"damaged: {frames: 7, first: "0:4", last: "0:10"}"#), "\(golden)")

    let passed = try workplace.retake("test", "--report", "report")
    #expect(passed.status == 0)
    #expect(passed.stdout.contains("note: yard/motion-boxes: \(Self.text)"), "\(passed.stdout)")
    #expect(try text("report/summary.md", of: workplace).contains(Self.text))
  }

  @Test func `a strict test refuses damaged frames and leaves nothing to accept`() throws {
    let workplace = try project(lost: 4)
    let refused = try workplace.retake("test", "--strict")
    #expect(refused.status == 2, "\(refused.stdout)")
    for part in [
      "errored  yard/motion-boxes  \(Self.text)", "[suite.run.damagedFrames]",
      "retake session check yard",
    ] {
      #expect(refused.stdout.contains(part), "\(refused.stdout)")
    }
    #expect(!workplace.exists("Goldens/yard/motion-boxes/golden.yml.new"))
    #expect(try workplace.retake("accept", "--reason", "first").status == 2)
    let doctor = try workplace.retake("session", "check", "yard")
    #expect((doctor.stdout + doctor.stderr).contains("0:4 to 0:10"))

    // A golden that was accepted before is refused as well.
    try #require(try workplace.retake("test").status == 3)
    try #require(try workplace.retake("accept", "--reason", "known").status == 0)
    #expect(try workplace.retake("test").status == 0)
    #expect(try workplace.retake("test", "--strict").status == 2)
  }

  @Test func `a golden of good frames has no mark`() throws {
    let workplace = try project(lost: nil)
    try #require(try workplace.retake("test").status == 3)
    let accepted = try workplace.retake("accept", "--reason", "first")
    #expect(accepted.stdout.hasSuffix("new  30 frames\n"), "\(accepted.stdout)")
    #expect(!(try text("Goldens/yard/motion-boxes/golden.yml", of: workplace).contains("damaged")))
    #expect(try workplace.retake("test", "--strict").status == 0)
  }
}
