import Foundation
import RetakeBuffers
import RetakeCore
import RetakeRecord
import RetakeRewrite
import RetakeSession
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeSuite

@Suite struct RedactionWorkTests {
  private func work(
    _ fixture: ProjectFixture, pipeline: String = "motion.json", name: String = "public"
  ) throws -> RedactionWork {
    let job = ReplayJob(
      project: try fixture.project(),
      definition: CaseDefinition(name: "redact", pipeline: pipeline),
      session: fixture.folder.file("Recordings/yard").path)
    let encoding = try #require(RecordingPreset.ffv1.replayEncoding)
    return RedactionWork(
      job,
      SessionRedaction.Options(
        target: SessionTarget(into: fixture.folder.file("Recordings").path, name: name),
        encoding: encoding))
  }

  private struct Line {
    var sequence: Int
    var isUncertain: Bool
    /// x, y, width, height and cell.
    var areas: [[Int]]

    init(_ text: Substring) throws {
      let json = try JSONValue(parsing: Data(text.utf8))
      func number(_ value: JSONValue?) -> Int {
        guard case .integer(let number) = value else { return -1 }
        return Int(number)
      }
      sequence = number(json["sequence"])
      isUncertain = json["uncertain"] == .bool(true)
      guard case .array(let items) = json["areas"] else {
        areas = []
        return
      }
      areas = items.map { item in
        ["x", "y", "width", "height", "cell"].map { number(item[$0]) }
      }
    }
  }

  private func luma(_ frame: Frame) -> [[UInt8]] {
    var rows: [[UInt8]] = []
    frame.forEachRow(of: 0) { rows.append(Array($0)) }
    return rows
  }

  @Test func `figures that move are cells in each frame, and the rest of the image stays`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard", frames: 40, width: 320, height: 240)
    var work = try work(fixture)
    work.hold = .milliseconds(200)
    let result = try work.run { _ in true }
    #expect(result.frames == 40 && result.status == .clean && result.boxes > 20)
    #expect(result.areas >= result.boxes && result.parent == nil && result.notes.isEmpty)

    let text = try String(
      contentsOf: fixture.folder.file("Recordings/public/media/redaction.jsonl"), encoding: .utf8)
    let lines = try text.split(separator: "\n").map(Line.init)
    #expect(lines.map(\.sequence) == Array(0..<40))
    #expect(lines.count(where: \.isUncertain) == result.uncertainFrames)
    #expect(lines.count(where: \.areas.isEmpty) == result.framesWithoutArea)
    #expect(result.uncertain.reduce(0) { $0 + $1[1] - $1[0] + 1 } == result.uncertainFrames)
    let old = try SessionReader(opening: fixture.folder.file("Recordings/yard").path)
    let new = try SessionReader(opening: result.path)
    for line in lines {
      let id = FrameID(track: 0, sequence: line.sequence)
      let (before, after) = (try old.frame(id), try new.frame(id))
      #expect(before.format == after.format && before.width == after.width)
      #expect((before.pixelDigest == after.pixelDigest) == line.areas.isEmpty, "\(id)")
      let (was, now) = (luma(before), luma(after))
      var isInside = was.map { $0.map { _ in false } }
      for area in line.areas {
        for y in stride(from: area[1], to: area[1] + area[3], by: area[4]) {
          for x in stride(from: area[0], to: area[0] + area[2], by: area[4]) {
            let rows = y..<min(y + area[4], area[1] + area[3])
            let columns = x..<min(x + area[4], area[0] + area[2])
            #expect(Set(rows.flatMap { now[$0][columns] }).count == 1, "\(id) \(x) \(y)")
            for row in rows { for column in columns { isInside[row][column] = true } }
          }
        }
      }
      for y in was.indices {
        #expect(
          was[y].indices.allSatisfy { isInside[y][$0] || was[y][$0] == now[y][$0] }, "\(id) \(y)")
      }
    }
    #expect(try SessionCheck(path: result.path, decodes: true).run().isHealthy)
  }

  @Test func `two runs make the same bytes, also with the boxes of a smaller image`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard", frames: 12)
    let small = ProjectFixture.pipeline.replacing(
      "\"kind\": \"grey\"",
      with: "\"kind\": \"downsample\", \"options\": {\"width\": 48, \"height\": 32}"
    ).replacing("\"threshold\": 24", with: "\"threshold\": 16, \"minimumArea\": 4")
    try fixture.folder.write(small, to: "motion.json")
    let one = try work(fixture).run { _ in true }
    let two = try work(fixture, name: "other").run { _ in true }
    for file in ["session.sqlite", "media/video-00000.mkv", "media/redaction.jsonl", "NOTES.md"] {
      let bytes = try [one, two].map { try Data(contentsOf: URL(filePath: $0.path + "/" + file)) }
      #expect(bytes[0] == bytes[1], "\(file)")
    }
    #expect(one.sessionDigest == two.sessionDigest && one.boxes > 0)
  }

  @Test func `a pipeline that finds nothing, or has no boxes, makes no copy`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard", frames: 6)
    let before = fixture.files("Recordings")
    func code(_ pipeline: String) -> String? {
      do {
        _ = try work(fixture, pipeline: pipeline).run { _ in true }
        return nil
      } catch {
        return error.facts.code
      }
    }
    try fixture.change("\"threshold\": 24", to: "\"threshold\": 255")
    #expect(code("motion.json") == "suite.redact.noDetections")
    try fixture.folder.write(
      """
      {"v": 1, "name": "own",
       "nodes": [
        {"id": "camera", "kind": "synthetic",
         "options": {"scene": "figures", "width": 64, "height": 48, "frames": 4}},
        {"id": "motion", "kind": "motion"},
        {"id": "boxes", "kind": "results", "primary": true}],
       "edges": [{"from": "camera", "to": "motion"}, {"from": "motion", "to": "boxes"}]}
      """, to: "own.json")
    #expect(code("own.json") == "suite.redact.noBoxes")
    #expect(fixture.files("Recordings") == before)
    try fixture.change("\"threshold\": 24", to: "\"threshold\": 16")
    #expect(code("motion.json") == nil)
    #expect(code("motion.json") == "session.name.taken")
  }
}
