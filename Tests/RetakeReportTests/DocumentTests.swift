import Foundation
import RetakeCompare
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeReport

@Suite struct DocumentTests {
  @Test(arguments: Sample.allCases)
  func `an encoded document keeps to the published schema`(_ sample: Sample) throws {
    var check = try SchemaCheck.ofReports()
    check.check(try JSONValue(parsing: sample.document.encoded()))
    #expect(check.problems == [])
  }

  @Test func `the check of the schema sees a missing, an unknown and a wrong member`() throws {
    var check = try SchemaCheck.ofReports()
    guard case .object(var members) = try JSONValue(parsing: Samples.regression().encoded())
    else { return #expect(Bool(false), "a document is an object") }
    members["title"] = nil
    members["titel"] = .string("x")
    members["counts"] = .integer(3)
    check.check(.object(members))
    #expect(
      check.problems == [
        ": title is missing", "/counts: an integer is not object", ": titel is unknown",
      ])
  }

  @Test(.enabled(if: pythonHasJSONSchema, "python3 has no jsonschema here"))
  func `an independent validator agrees`() throws {
    let folder = try TemporaryFolder("retake-report")
    try SchemaCheck.published().write(to: folder.file("schema.json"))
    try Samples.allVerdicts().encoded().write(to: folder.file("report.json"))
    let script = """
      import json, jsonschema
      schema = json.load(open("schema.json"))
      jsonschema.Draft202012Validator.check_schema(schema)
      jsonschema.Draft202012Validator(schema).validate(json.load(open("report.json")))
      """
    let result = try runCommand(Judges.python, arguments: ["-c", script], folder: folder.url)
    #expect(result.status == 0, "\(result.stderr)")
  }

  @Test func `a document reads back as it was`() throws {
    let document = Samples.allVerdicts()
    #expect(try ReportDocument(parsing: document.encoded()) == document)
  }

  @Test func `a report of an earlier build is read, its later lists empty`() throws {
    // As they were before the curves of all frames and the causes of decisions were added.
    func older(_ value: Any) -> Any {
      if let list = value as? [Any] { return list.map(older) }
      guard var object = value as? [String: Any] else { return value }
      object["because"] = nil
      if object["droppedGolden"] != nil {
        object["errors"] = nil
        object["errorMax"] = [1.5]
      }
      return object.mapValues(older)
    }
    let document = Samples.allVerdicts()
    let now = try JSONSerialization.jsonObject(with: document.encoded())
    let old = try JSONSerialization.data(withJSONObject: older(now))
    let text = String(decoding: old, as: UTF8.self)
    try #require(text.contains("errorMax") && !text.contains("because"))
    let again = try ReportDocument(parsing: old)
    #expect(again.cases.map(\.title) == document.cases.map(\.title))
    #expect(again.cases.flatMap(\.findings.items).allSatisfy { $0.because.isEmpty })
    #expect(try HTMLReport.render(again).count > 10_000)
  }

  @Test func `a report of another build that cannot be read says whose it is and what to do`() {
    let text = #"{"v": 1, "tool": {"name": "retake", "version": "0.0.9"}, "title": "retake test"}"#
    let error = #expect(throws: ReportError.self) { try ReportDocument(parsing: Data(text.utf8)) }
    #expect(error?.code == "report.document.otherBuild")
    #expect(error?.message.contains("retake 0.0.9") == true)
    #expect(error?.advice?.contains("retake test --report") == true)
  }

  @Test func `the same document gives the same bytes`() throws {
    #expect(try Samples.allVerdicts().encoded() == Samples.allVerdicts().encoded())
  }

  @Test func `numbers that JSON has no word for survive`() throws {
    var document = Samples.regression()
    document.cases[1].findings.items[0].magnitude = .infinity
    document.cases[1].timelines[0].errors[0].largest[3] = .nan
    let again = try ReportDocument(parsing: document.encoded())
    #expect(again.cases[1].findings.items[0].magnitude == .infinity)
    #expect(again.cases[1].timelines[0].errors[0].largest[3].isNaN)
  }

  @Test func `a document of a later version is refused by name`() {
    #expect(throws: ReportError.newerVersion(2)) {
      try ReportDocument(parsing: Data(#"{"v": 2}"#.utf8))
    }
  }

  @Test(arguments: [
    "hello", #"{"v": 1, "tool": {"name": "retake", "version": "0.0.9"}, "items": []}"#,
  ])
  func `a text that is no report is refused`(text: String) {
    #expect {
      try ReportDocument(parsing: Data(text.utf8))
    } throws: {
      ($0 as? ReportError)?.code == "report.document.unreadable"
    }
  }

  @Test func `verdicts are counted, and an expected change is no change`() {
    let counts = Samples.allVerdicts().counts
    #expect(
      counts.text
        == "1 errored, 1 changed, 1 not comparable, 1 stale, 1 missing, 1 expected, 1 passed")
  }

  @Test(arguments: [1, 2])
  func `exit code 0 names the cases that differ as expected, in every form`(count: Int) throws {
    let cases = (0..<count).map { number in
      var item = Samples.changedCase(name: "slow-\(number)")
      item.expected = KnownChange(id: "known-1", url: nil)
      return item
    }
    let run = ReportDocument(
      tool: ReportTool(version: "1"), title: "t", exit: ReportExit(code: 0),
      cases: cases + [Samples.passedCase()])
    let sentence =
      "Everything that was compared equals its golden within the tolerances, or differs as "
      + "expected: \(count == 1 ? "1 case" : "2 cases")."
    #expect(run.exit.code == 0 && run.exit.word == "passed" && run.exit.meaning == sentence)
    #expect(String(decoding: try run.encoded(), as: UTF8.self).contains(sentence))
    #expect(
      TerminalReport.render(run, palette: .plain).contains("exit 0 (passed): \(sentence)\n"))
    #expect(MarkdownReport.render(run).contains("\n\(sentence) Exit code 0."))
    let page = String(decoding: try HTMLReport.render(run), as: UTF8.self)
    #expect(page.contains(">\(sentence)</p>"))
    let merged = ReportDocument(
      merging: [run], tool: run.tool, title: "t", exit: ReportExit(code: 0), frames: 0, seconds: 0)
    #expect(merged.exit == run.exit)
  }

  @Test func `without an expected difference, and with another exit code, no case is named`() {
    for (code, item) in [(0, Samples.passedCase()), (1, Samples.changedCase())] {
      let run = ReportDocument(
        tool: ReportTool(version: "1"), title: "t", exit: ReportExit(code: code), cases: [item])
      #expect(run.exit == ReportExit(code: code))
    }
    let all = Samples.allVerdicts()
    #expect(all.counts.expected == 1 && all.exit == ReportExit(code: 2))
    #expect(ReportExit(code: 0, expected: 0) == ReportExit(code: 0))
  }

  @Test(arguments: [0, 1, 2, 3, 4, 5, 64, 65, 75, 130])
  func `every exit code has a word and a meaning`(_ code: Int) {
    let exit = ReportExit(code: code)
    #expect(exit.meaning.hasSuffix("."))
    #expect(!exit.word.hasPrefix("exit"))
  }
}

let pythonHasJSONSchema = Judges.has("jsonschema")
