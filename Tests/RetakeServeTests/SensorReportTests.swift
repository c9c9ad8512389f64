import Foundation
import Retake
import RetakeTestSupport
import Testing

@testable import RetakeServe

/// The report of a case whose stage reads a gyroscope.
@Suite(.serialized, .onOwnThread) struct SensorReportTests {
  private struct Report: Decodable {
    struct Case: Decodable {
      var sensors: [Strip]?
    }

    struct Strip: Decodable {
      struct Curve: Decodable {
        var channel: String
        var values: [Double?]
      }

      var sensor: String
      var node: String
      var times: [Int64]
      var curves: [Curve]
    }

    var cases: [Case]
  }

  /// The recording `turn` with a longer window than its golden has.
  private func regression(_ folder: TemporaryFolder) throws -> Data {
    for name in ["Recordings/turn", "Goldens/turn", "Pipelines/steady.json"] {
      let target = folder.file(name)
      try FileManager.default.createDirectory(
        at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.copyItem(at: packageRoot.appending(path: name), to: target)
    }
    let pipeline = folder.file("Pipelines/steady.json")
    let text = try String(contentsOf: pipeline, encoding: .utf8)
    let changed = text.replacing(/"milliseconds": *33/, with: "\"milliseconds\": 66")
    try #require(changed != text)
    try folder.write(changed, to: "Pipelines/steady.json")
    try folder.write(
      """
      v: 1
      cases:
        steady: {pipeline: Pipelines/steady.json}
      suites:
        default:
          - {sessions: ["turn"], cases: [steady]}
      """, to: "retake.yml")
    let outcome = try ServeFixture.test(folder, report: "report")
    #expect(outcome.status == .regression)
    return try Data(contentsOf: folder.file("report/report.json"))
  }

  @Test func `the samples around differing frames are in the report, and drawn`() throws {
    let folder = try TemporaryFolder()
    let json = try regression(folder)
    let item = try #require(try JSONDecoder().decode(Report.self, from: json).cases.first)
    let strips = try #require(item.sensors)
    #expect(strips.count == 4)
    for strip in strips {
      #expect(strip.sensor == "gyroscope" && strip.node == "steady")
      #expect(strip.curves.map(\.channel) == ["x", "y", "z"])
      #expect(strip.times == strip.times.sorted())
      #expect(strip.times.allSatisfy { abs($0) <= 1_000_000_000 } && strip.times.count > 100)
      #expect(strip.curves.allSatisfy { $0.values.count == strip.times.count })
    }
    let page = try String(contentsOf: folder.file("report/report.html"), encoding: .utf8)
    #expect(page.matches(of: /<svg class="curves"/).count == 4)
    // The recording begins a few frames before the first frame that differs.
    #expect(page.contains(/<path class="curve-0" d="M4\d\d \d+h0L4\d\d \d+L/))
  }
}
