import Foundation
import RetakeCore
import RetakeMedia
import RetakeReplay
import RetakeRuntime
import RetakeSession
import RetakeStages
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// Videos of a session with a run's results drawn over it.
@Suite struct OverlayVideoTests {
  /// A gray frame and a box of the pipeline, at twice the size that the detector sees.
  private static let pipeline = """
    {"v": 1, "name": "motion-boxes",
     "nodes": [
      {"id": "camera", "kind": "session"},
      {"id": "small", "kind": "downsample", "options": {"width": 48, "height": 32}},
      {"id": "motion", "kind": "motion", "options": {"threshold": 16, "minimumArea": 4},
       "cost": {"fixed": "70ms"}},
      {"id": "boxes", "kind": "results"}],
     "edges": [
      {"from": "camera", "to": "small"},
      {"from": "small", "to": "motion", "capacity": 1, "policy": "dropOldest"},
      {"from": "motion", "to": "boxes"}]}
    """

  private struct Drawn {
    /// Removed with its last holder.
    var fixture: ProjectFixture
    var summary: RunSummary
    var session: SessionReader
    /// The video, imported.
    var video: SessionReader
  }

  private func draw(
    _ fixture: ProjectFixture, _ name: String = "over.mp4", mode: RunOptions.Mode = .everyFrame
  ) throws -> Drawn {
    try fixture.folder.write(Self.pipeline, to: "motion.json")
    if !FileManager.default.fileExists(atPath: fixture.folder.file("Recordings/yard").path) {
      try fixture.record("yard", frames: 24)
    }
    let session = fixture.folder.file("Recordings/yard").path
    var definition = CaseDefinition(name: "over", pipeline: "motion.json")
    definition.mode = mode
    var job = ReplayJob(project: try fixture.project(), definition: definition, session: session)
    let file = fixture.folder.file(name)
    job.outputs.overlay = file.path
    let summary = try job.run()
    let imported = try SessionImporter(
      ImportOptions(file: file.path, name: name, into: fixture.folder.file("Videos").path)
    ).run()
    return Drawn(
      fixture: fixture, summary: summary, session: try SessionReader(opening: session),
      video: try SessionReader(opening: imported.folder.path))
  }

  /// Pixels whose red or green differs from the session's frame by more than encoding changes.
  private func changed(_ drawn: Drawn, _ sequence: Int) throws -> [(x: Int, y: Int)] {
    let id = FrameID(track: 0, sequence: sequence)
    let before = try MediaScalers().scale(try drawn.session.frame(id), format: .rgb).bytes(of: 0)
    let after = try MediaScalers().scale(try drawn.video.frame(id), format: .rgb).bytes(of: 0)
    let width = drawn.session.tracks[0].width
    return before.indices.filter { $0 % 3 < 2 && abs(Int(before[$0]) - Int(after[$0])) > 60 }
      .map { ($0 / 3 % width, $0 / 3 / width) }
  }

  @Test(arguments: ["over.mp4", "over.mkv", "over.mov", "over.nut"])
  func `every captured frame is there at its time, and boxes lie on what moves`(
    name: String
  ) throws {
    let drawn = try draw(try ProjectFixture(), name)
    let track = try #require(drawn.video.tracks.first)
    #expect((track.width, track.height, track.frameCount) == (96, 64, 24))
    #expect(drawn.summary.frames.captured == 24)
    let times = try drawn.video.entries(of: 0, sequences: 0..<24).map(\.timestamp.nanoseconds)
    let wanted = try drawn.session.entries(of: 0, sequences: 0..<24).map(\.timestamp.nanoseconds)
    for (one, other) in zip(times, wanted) {
      #expect(abs((one - times[0]) - (other - wanted[0])) < 1_000_001)
    }
    // Players leave out a last image without a duration.
    let counted = try runCommand(
      "ffprobe",
      arguments: [
        "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0",
        drawn.fixture.folder.file(name).path,
      ])
    #expect(counted.stdout.hasPrefix("24"), "\(counted.stdout) \(counted.stderr)")
    // The first frame has no box. Later frames have boxes, in both the left and the right half of
    // the image.
    #expect(try changed(drawn, 0).count < 20)
    let later = try (4..<24).map { try changed(drawn, $0).count }
    #expect(later.filter { $0 > 60 }.count > 15, "\(later)")
    let columns = try (4..<24).flatMap { try changed(drawn, $0).map(\.x) }
    #expect((columns.max() ?? 0) > 60, "boxes of the small picture lie in the large one")
  }

  @Test func `frames that never came to the sink show what came before them`() throws {
    let drawn = try draw(try ProjectFixture(), mode: .simulate)
    let frames = drawn.summary.frames
    #expect(frames.droppedTotal > 0)
    #expect(drawn.video.tracks[0].frameCount == frames.captured)
  }

  @Test func `a file that says no container, and a run without a session, are refused`() throws {
    let fixture = try ProjectFixture()
    #expect {
      try draw(fixture, "over.txt")
    } throws: { ($0 as? any CodedError)?.code == "suite.overlay.file" }
    try fixture.folder.write(
      """
      {"v": 1, "nodes": [
        {"id": "camera", "kind": "synthetic", "options": {"width": 32, "height": 32, "frames": 3}},
        {"id": "light", "kind": "luminance"}, {"id": "values", "kind": "results"}],
       "edges": [{"from": "camera", "to": "light"}, {"from": "light", "to": "values"}]}
      """, to: "own.json")
    var job = ReplayJob(
      project: try fixture.project(), definition: CaseDefinition(name: "own", pipeline: "own.json"),
      session: nil)
    job.outputs.overlay = fixture.folder.file("own.mp4").path
    #expect { try job.run() } throws: { ($0 as? any CodedError)?.code == "suite.overlay.noSession" }
    let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.url.path)
    #expect(!names.contains { $0.hasPrefix("own.mp4") || $0.hasPrefix("over.") })
  }

  @Test func `a run that fails leaves no video`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard", frames: 24)
    let session = fixture.folder.file("Recordings/yard").path
    var job = ReplayJob(
      project: try fixture.project(),
      definition: CaseDefinition(name: "over", pipeline: "motion.json"), session: session)
    job.outputs.overlay = fixture.folder.file("over.mp4").path
    job.options.isInterrupted = { true }
    #expect(throws: RuntimeError.interrupted) { try job.run() }
    let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.url.path)
    #expect(!names.contains { $0.hasPrefix("over.mp4") }, "\(names)")
  }

  @Test(arguments: ["mkv", "mp4", "mov", "nut"])
  func `footage is never replaced, and an earlier overlay is`(container: String) throws {
    let fixture = try ProjectFixture()
    let name = "over.\(container)"
    let drawn = try draw(fixture, name)
    try FileManager.default.removeItem(at: fixture.folder.file("Videos"))
    #expect(try draw(fixture, name).video.tracks[0].frameCount == drawn.video.tracks[0].frameCount)
    let clip = fixture.folder.file("clip.\(container)")
    let made = try runFFmpeg(
      arguments: ["-v", "error", "-f", "lavfi", "-i", "testsrc2", "-frames:v", "3", clip.path])
    try #require(made.status == 0, "\(made.stderr)")
    let before = try Data(contentsOf: clip)
    #expect {
      try draw(fixture, "clip.\(container)")
    } throws: { ($0 as? any CodedError)?.code == "suite.output.overMedia" }
    #expect(try Data(contentsOf: clip) == before)
  }

  @Test func `timings and a profile that are read are never written over`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard", frames: 6)
    for costs in [
      "timings:clip.timings", "profile:slow.json", "timings:a.timings+profile:slow.json",
    ] {
      let choice = try #require(CostChoice(parsing: costs))
      var definition = CaseDefinition(name: "motion", pipeline: "motion.json")
      (definition.costs, definition.mode) = (choice, .simulate)
      for file in choice.files {
        let kept = fixture.folder.file(file)
        try "kept".write(to: kept, atomically: true, encoding: .utf8)
        var job = ReplayJob(
          project: try fixture.project(), definition: definition,
          session: fixture.folder.file("Recordings/yard").path)
        job.outputs.decisions = kept.path
        #expect {
          try job.run()
        } throws: { ($0 as? any CodedError)?.code == "suite.output.overInput" }
        #expect(try String(contentsOf: kept, encoding: .utf8) == "kept")
      }
    }
  }

  @Test func `what the run reads is never written over`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard", frames: 6)
    let session = fixture.folder.file("Recordings/yard").path
    let pipeline = fixture.folder.file("motion.json").path
    try FileManager.default.createSymbolicLink(
      atPath: fixture.folder.file("link").path, withDestinationPath: session)
    let link = fixture.folder.file("link").path
    let before = try SessionReader(opening: session).sessionDigest()
    for path in [
      session + "/session.sqlite", session + "/media/video-00000.mkv", session + "/new.mkv",
      link + "/session.sqlite", link + "/new.nut", pipeline,
    ] {
      var job = ReplayJob(
        project: try fixture.project(),
        definition: CaseDefinition(name: "motion", pipeline: "motion.json"), session: session)
      if path.hasSuffix(".mkv") { job.outputs.overlay = path } else { job.outputs.trace = path }
      #expect {
        try job.run()
      } throws: { ($0 as? any CodedError)?.code == "suite.output.overInput" }
    }
    #expect(try SessionReader(opening: session).sessionDigest() == before)
    #expect(try String(contentsOfFile: pipeline, encoding: .utf8) == ProjectFixture.pipeline)
  }

  @Test func `a pipe is no place for a video`() throws {
    let fixture = try ProjectFixture()
    let pipe = fixture.folder.file("pipe.mp4").path
    try #require(mkfifo(pipe, 0o600) == 0)
    #expect {
      try draw(fixture, "pipe.mp4")
    } throws: { ($0 as? any CodedError)?.code == "replay.overlay.unwritable" }
  }
}
