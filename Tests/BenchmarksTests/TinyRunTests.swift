import Foundation
import RetakeTestSupport
import Testing

/// The benchmarks themselves, with so little work that they end at once. Their measurements are not
/// checked, only that every rival computed the same result.
@Suite struct TinyRunTests {
  private static let binary = productsFolder.appending(path: "retake-benchmarks").path

  private struct Report: Decodable {
    struct Section: Decodable {
      struct Figure: Decodable {
        var name: String
        var value: Double
      }

      var name: String
      var figures: [Figure]
      var hash: String
      var notes: [String]
    }

    struct Verdict: Decodable {
      struct Threshold: Decodable { var figure: String }

      var threshold: Threshold
      var value: Double?
    }

    var isTiny: Bool
    var sections: [Section]
    var verdicts: [Verdict]
  }

  private static let sections = [
    "hop", "live", "copies", "pool", "stealing", "detector", "models", "programs", "pulse",
    "timePlane", "document", "compare", "replay",
  ]

  private func tiny(_ more: [String]) throws -> Report {
    let result = try runCommand(Self.binary, arguments: ["--tiny", "--json"] + more)
    try #require([0, 1].contains(result.status), "\(result.stderr)")
    return try JSONDecoder().decode(Report.self, from: result.stdoutBytes)
  }

  @Test func `every section runs, and the same work gives the same hash in every run`() throws {
    let thresholds = packageRoot.appending(path: "Tests/Benchmarks/thresholds.json").path
    let report = try tiny(["--thresholds", thresholds])
    #expect(report.isTiny)
    #expect(report.sections.map(\.name) == Self.sections)
    for section in report.sections {
      #expect(section.hash.count == 32, "\(section.name): \(section.hash)")
      #expect(section.hash.allSatisfy { $0.isHexDigit })
      let lacks = ["ONNX Runtime is not here", "python3 is not here"]
      let isAbsent = section.notes.contains { note in lacks.contains { note.contains($0) } }
      #expect(section.figures.isEmpty == isAbsent)
      for figure in section.figures { #expect(figure.value.isFinite, "\(figure.name)") }
    }
    // Each threshold names a figure that is measured.
    #expect(report.verdicts.contains { $0.threshold.figure == "stealing.ratio" })
    #expect(report.verdicts.allSatisfy { $0.value != nil }, "\(report.verdicts)")

    // The hash of the replays is that of three processes already.
    let again = try tiny(Self.sections.filter { $0 != "replay" })
    #expect(again.isTiny)
    #expect(again.sections.map(\.hash) == report.sections.dropLast().map(\.hash))
  }

  @Test func `GStreamer is measured too, or its absence is said`() throws {
    let section = try #require(try tiny(["hop"]).sections.first)
    let isMeasured = section.figures.contains { $0.name == "hop.gstreamer.queue" }
    #expect(isMeasured != section.notes.contains { $0.contains("gst-launch-1.0") })
  }

  @Test(arguments: [(0.0, Int32(0)), (1e9, Int32(1))])
  func `a threshold that is missed ends with 1`(minimum: Double, status: Int32) throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      #"[{"figure": "timePlane.rate", "min": \#(minimum)}]"#, to: "thresholds.json")
    let result = try runCommand(
      Self.binary, arguments: ["--tiny", "timePlane", "--thresholds", file.path])
    #expect(result.status == status, "\(result.stdout)")
    #expect(result.stdout.contains(status == 0 ? "met    timePlane.rate" : "MISSED timePlane.rate"))
  }

  @Test func `a section that is not there is refused by name`() throws {
    let result = try runCommand(Self.binary, arguments: ["hops"])
    #expect(result.status == 2)
    #expect(result.stderr.contains("hop, live, copies, pool, stealing, detector, models, programs"))
  }
}
