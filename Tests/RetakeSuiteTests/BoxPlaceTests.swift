import Foundation
import RetakeCompare
import RetakeCore
import RetakeSession
import RetakeStages
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeGolden
@testable import RetakeReport
@testable import RetakeSuite

/// Boxes are drawn on the objects in a report's images, no matter where in the pipeline they were
/// found.
@Suite struct BoxPlaceTests {
  private static func pipeline(_ before: String, threshold: Int = 24) -> String {
    """
    {"v": 1, "name": "boxes",
     "nodes": [
      {"id": "camera", "kind": "session"}, \(before),
      {"id": "motion", "kind": "motion", "options": {"threshold": \(threshold)}},
      {"id": "boxes", "kind": "results", "primary": true}],
     "edges": [
      {"from": "camera", "to": "before"}, {"from": "before", "to": "motion"},
      {"from": "motion", "to": "boxes"}]}
    """
  }

  private static let plain = #"{"id": "before", "kind": "grey"}"#
  private static let half =
    #"{"id": "before", "kind": "downsample", "options": {"width": 160, "height": 120}}"#
  private static let cut =
    #"{"id": "before", "kind": "crop", "options": {"x": 81, "y": 41, "width": 200, "height": 160}}"#

  /// Goldens with one threshold, then a run with another.
  private func regression(_ before: String) throws -> (ProjectFixture, ReportCase) {
    let fixture = try ProjectFixture(
      "v: 1\ncases:\n  case: {pipeline: case.json}\n  plain: {pipeline: plain.json}\n")
    try fixture.record("yard", frames: 30, width: 320, height: 240)
    try fixture.folder.write(Self.pipeline(Self.plain), to: "plain.json")
    try fixture.folder.write(Self.pipeline(before), to: "case.json")
    _ = try fixture.test()
    _ = try fixture.accept()
    try fixture.folder.write(Self.pipeline(before, threshold: 27), to: "case.json")
    let outcome = try fixture.test()
    return (fixture, try #require(outcome.document.cases.first { $0.name == "case" }))
  }

  /// The boxes that the same detector finds in the original frames.
  private func objects(_ fixture: ProjectFixture) throws -> [FrameID: [Box]] {
    let golden = GoldenFolder(fixture.folder.file("Goldens/yard/plain"))
    let ids = Set((0..<30).map { FrameID(track: 0, sequence: $0) })
    return try golden.frames(ids).frames.mapValues { frame in
      frame.outcomes.flatMap(\.lines).compactMap { line in
        ReportBox(.both, line: line.text, classes: []).map(\.box)
      }
    }
  }

  /// The fraction of a box that overlaps an object: the object that it overlaps most.
  private func onObject(_ box: Box, _ objects: [Box]) -> Double {
    let shared = objects.map { other in
      max(0, min(box.x + box.width, other.x + other.width) - max(box.x, other.x))
        * max(0, min(box.y + box.height, other.y + other.height) - max(box.y, other.y))
    }
    return (shared.max() ?? 0) / (box.width * box.height)
  }

  private func check(_ before: String, scale: Double, corner: (x: Double, y: Double)) throws {
    let (fixture, item) = try regression(before)
    #expect(item.verdict == .changed)
    let objects = try objects(fixture)
    var compared = 0
    for finding in item.findings.items {
      let frame = try #require(finding.frame)
      for box in finding.boxes {
        let line = try #require(box.side == .golden ? finding.golden : finding.actual)
        let raw = try #require(ReportBox(box.side, line: line, classes: []))
        let expected = Box(
          x: corner.x + raw.x * scale, y: corner.y + raw.y * scale, width: raw.width * scale,
          height: raw.height * scale)
        #expect(box.box == expected)
        #expect(onObject(box.box, objects[frame] ?? []) > 0.6, "\(frame) \(box)")
        compared += 1
      }
    }
    #expect(compared >= 20)
    let shared = item.pictures.flatMap { picture in picture.boxes.map { (picture.frame, $0) } }
    for (frame, box) in shared {
      #expect(onObject(box.box, objects[frame] ?? []) > 0.6, "\(frame) \(box)")
    }
    #expect(item.pictures.allSatisfy { $0.width == 320 && $0.height == 240 })
  }

  @Test func `behind a downsample by two`() throws {
    try check(Self.half, scale: 2, corner: (0, 0))
  }

  @Test func `behind a crop, whose odd corner is rounded down`() throws {
    try check(Self.cut, scale: 1, corner: (80, 40))
  }

  @Test func `boxes of an appended file are turned back as that file says`() throws {
    let fixture = try ProjectFixture("v: 1\ncases:\n  case: {pipeline: case.json}\n")
    try fixture.folder.write(
      Self.pipeline(#"{"id": "before", "kind": "upright"}"#), to: "case.json")
    let files = try (1...2).map { part in
      try fixture.record("part", frames: 15, seed: part, width: 320, height: 240)
      let (folder, file) = (
        fixture.folder.file("Recordings/part"), fixture.folder.file("part\(part).mp4").path
      )
      let made = try runFFmpeg(
        arguments: [
          "-v", "error", "-nostdin", "-i", folder.path + "/media/video-00000.mkv", "-c:v",
          "libx264", "-qp", "0", file,
        ])
      try #require(made.status == 0, "\(made.stderr)")
      try FileManager.default.removeItem(at: folder)
      return file
    }
    let turned = fixture.folder.file("turned.mp4").path
    try turnMovie(files[1], matrix: [-1, 0, 0, -1], into: turned)
    _ = try SessionImporter(
      ImportOptions(
        file: files[0], appending: [turned], name: "both",
        into: fixture.folder.file("Recordings").path)
    ).run()
    _ = try fixture.test()
    _ = try fixture.accept()
    let golden = GoldenFolder(fixture.folder.file("Goldens/both/case"))
    let manifest = try golden.manifest()
    var result = CaseResult(golden: golden, actual: golden, manifest)
    result.addSources(manifest, try fixture.project())
    #expect(result.varyingTracks == [0])
    var raw: [FrameID: [Box]] = [:]
    _ = try golden.eachOutcome(at: "boxes") { raw[$0] = SinkValues($1).detections.map(\.box) }
    var counts = [0, 0]
    _ = try result.eachValue(of: golden, "boxes", .actual) { id, values in
      let part = id.sequence / 15
      let picture = OverlayImage(width: 320, height: 240, rotationDegrees: part * 180)
      for (box, found) in zip(raw[id] ?? [], values.detections.map(\.box)) {
        let stored = picture.stored(box)
        #expect(abs(found.x - stored.x) < 0.01 && abs(found.y - stored.y) < 0.01, "\(id)")
        counts[part] += 1
      }
    }
    #expect(counts.allSatisfy { $0 > 0 }, "\(counts)")
  }

  @Test func `a report says where the golden's stages may have put its boxes otherwise`() throws {
    let (fixture, item) = try regression(Self.half)
    #expect(!item.notes.contains { $0.contains("boxes are drawn where") })
    try fixture.folder.write(
      Self.pipeline(Self.half.replacing("160", with: "80")), to: "case.json")
    let again = try #require(try fixture.test().document.cases.first { $0.name == "case" })
    #expect(again.notes.contains { $0.contains("boxes are drawn where") })
  }

  @Test func `a sink's kept pictures lie on the part of the frame that they show`() throws {
    let fixture = try ProjectFixture(
      "v: 1\ncases:\n  case: {pipeline: case.json}\ncompare:\n"
        + "  view: {mode: pictures, pictureEvery: 1}\n")
    func write(_ size: Int) throws {
      try fixture.folder.write(
        """
        {"v": 1, "name": "views",
         "nodes": [
          {"id": "camera", "kind": "session"},
          {"id": "cut", "kind": "crop", "options": {"x": 80, "y": 40, "width": 160, "height": 120}},
          {"id": "small", "kind": "downsample", "options": {"width": \(size), "height": 60}},
          {"id": "view", "kind": "results", "primary": true}],
         "edges": [{"from": "camera", "to": "cut"}, {"from": "cut", "to": "small"},
          {"from": "small", "to": "view"}]}
        """, to: "case.json")
    }
    try fixture.record("yard", frames: 4, width: 320, height: 240)
    try write(80)
    _ = try fixture.test()
    _ = try fixture.accept()
    try write(64)
    let item = try #require(try fixture.test().document.cases.first)
    #expect(item.verdict == .changed)
    let kept = item.pictures.filter { $0.role != .input }
    #expect(kept.contains { $0.role == .golden } && kept.contains { $0.role == .actual })
    for picture in kept where picture.role == .actual {
      #expect(picture.node == "view" && picture.width == 320 && picture.height == 240)
      #expect(picture.area == Box(x: 80, y: 40, width: 160, height: 120))
    }
  }
}

extension ReportBox {
  fileprivate var box: Box { Box(x: x, y: y, width: width, height: height) }
}
