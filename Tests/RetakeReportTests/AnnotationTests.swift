import Testing

@testable import RetakeReport

@Suite struct AnnotationTests {
  @Test func `each case that needs somebody is one annotation`() {
    let lines = AnnotationsReport.render(Samples.allVerdicts()).split(separator: "\n")
    #expect(
      lines.map { $0.split(separator: " ").first } == [
        "::error", "::error", "::error", "::warning", "::warning", "::notice",
      ])
    #expect(lines[0].hasPrefix("::error title=retake%3A changed%3A yard/motion::first divergence"))
    #expect(AnnotationsReport.render(Samples.passedOnly()).isEmpty)
  }

  @Test func `there are at most ten of a kind, and the last says how many are left`() {
    let cases = (0..<40).map { Samples.changedCase(name: "case-\($0)") }
    let document = ReportDocument(
      tool: ReportTool(version: "1"), title: "t", exit: ReportExit(code: 1), cases: cases)
    let lines = AnnotationsReport.render(document).split(separator: "\n")
    #expect(lines.count == 10)
    #expect(lines.last?.hasPrefix("::error title=retake%3A and 31 other cases::") == true)
  }

  @Test func `no label makes a line, a property or a command of its own`() {
    let text = AnnotationsReport.render(Hostile.document())
    for line in text.split(separator: "\n") {
      #expect(line.contains(/^::(error|warning|notice) title=[^:,\n\r]*::/))
      #expect(!line.contains("\r"))
      #expect(line.utf8.count < 8_000)
    }
    #expect(text.split(separator: "\n").count <= 30)
  }
}

extension Samples {
  static func passedOnly() -> ReportDocument {
    ReportDocument(
      tool: ReportTool(version: "1"), title: "t", exit: ReportExit(code: 0), cases: [passedCase()])
  }
}
