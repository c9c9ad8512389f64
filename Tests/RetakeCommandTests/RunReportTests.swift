import Foundation
import Testing

/// `retake diff RUN1 RUN2 --report`: the page of a report, for two runs.
@Suite struct RunReportTests {
  private func runs() throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 30)
    try workplace.writePipeline("a.json")
    try workplace.writePipeline(
      "b.json", replacing: "\"threshold\": 24", with: "\"threshold\": 60")
    for name in ["a", "b"] {
      let run = try workplace.retake(
        "replay", "yard", "--pipeline", "\(name).json", "--output", "run-\(name)")
      try #require(run.status == 0, "\(run.stderr)")
    }
    return workplace
  }

  @Test func `two runs get the page of a report, with frames and the graph`() throws {
    let workplace = try runs()
    let result = try workplace.retake("diff", "run-a", "run-b", "--report", "report")
    #expect(result.status == 1, "\(result.stderr)")
    #expect(result.stderr.contains("report: ") && result.stderr.contains("report/report.html"))
    let report = try JSON(Data(contentsOf: workplace.folder.file("report/report.json")))
    #expect(report.title.text == "retake diff")
    #expect(report.notes[0].text == "Golden stands for run-a, actual for run-b.")
    let item = report.cases[0]
    #expect(item.pictures.count > 0 && item.graph.nodes.count == 4)
    #expect(item.tracks[0].width.int == 160)
    // A comparison of two runs has no result to accept.
    #expect(item.rootCauses.count > 0 && item.commands.count == 0)
    #expect(!result.stdout.contains("retake accept"), "\(result.stdout)")
    for name in ["junit.xml", "summary.md"] { #expect(workplace.exists("report/\(name)")) }
  }

  @Test func `a folder that is named as an absolute path keeps its slash`() throws {
    let workplace = try runs()
    let run = workplace.folder.file("run-a").path
    let result = try workplace.retake("diff", run, run)
    #expect(
      result.stdout.contains("note: Golden stands for \(run), actual for \(run)."),
      "\(result.stdout)")
  }

  @Test func `without the session the page has numbers and no frames`() throws {
    let workplace = try runs()
    try FileManager.default.removeItem(at: workplace.folder.file("Recordings/yard"))
    // Another session of the name has other frames, which must not be shown.
    try workplace.record("yard", frames: 20)
    let result = try workplace.retake("diff", "run-a", "run-b", "--report", "report")
    #expect(result.status == 1, "\(result.stderr)")
    let report = try JSON(Data(contentsOf: workplace.folder.file("report/report.json")))
    #expect(report.cases[0].pictures.count == 0 && report.cases[0].rootCauses.count > 0)
  }

  @Test func `a report does not replace a page of someone else`() throws {
    let workplace = try runs()
    try workplace.folder.write("<p>mine</p>", to: "site/report.html")
    let before = try workplace.listing()
    for words in [
      ["diff", "run-a", "run-b", "--report", "site"],
      ["test", "yard", "--pipeline", "a.json", "--report", "site"],
    ] {
      let result = try workplace.retake(words: words)
      #expect(result.status == 2)
      #expect(result.stderr.contains("[report.folder.otherFile]"), "\(result.stderr)")
      // Before the case was run, which is slow.
      #expect(try workplace.listing() == before)
    }
  }
}
