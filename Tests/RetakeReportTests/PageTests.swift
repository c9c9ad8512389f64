import Foundation
import RetakeCore
import Testing

@testable import RetakeReport

@Suite struct PageTests {
  @Test func `the checksum of the tests is SHA-256`() {
    let hex = sha256(Array("abc".utf8)).map { String($0 | 0, radix: 16) }.prefix(4)
    #expect(hex == ["ba", "78", "16", "bf"])
    #expect(base64(sha256([])) == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
  }

  @Test func `the page allows itself exactly the style and the script that it holds`() throws {
    let page = try html(Samples.regression())
    let style = try #require(between(page, "<style>", "</style>"))
    let script = try #require(between(page, "<script>", "</script>"))
    #expect(HTMLReport.styleHash == base64(sha256(Array(style.utf8))))
    #expect(HTMLReport.scriptHash == base64(sha256(Array(script.utf8))))
    #expect(
      between(page, "Content-Security-Policy\" content=\"", "\"") == """
        default-src 'none'; img-src data:; style-src 'sha256-\(HTMLReport.styleHash)'; \
        script-src 'sha256-\(HTMLReport.scriptHash)'; base-uri 'none'; form-action 'none'; \
        require-trusted-types-for 'script'; trusted-types 'none'
        """)
  }

  @Test(arguments: Sample.allCases)
  func `the page asks the network for nothing and has no inline handler`(_ sample: Sample) throws {
    let page = try withoutBlocks(html(sample.document))
    var names: Set<String> = []
    for tag in page.matches(of: /<[a-zA-Z][^<>]*>/) {
      let bare = tag.output.replacing(/="[^"]*"/, with: "=")
      names.formUnion(bare.dropFirst().dropLast().split(separator: " ").map(String.init))
    }
    let forbidden = names.filter { name in
      ["script", "style", "img", "link", "iframe", "object", "src=", "style="].contains(name)
        || name.hasPrefix("on")
    }
    #expect(forbidden.isEmpty)
    #expect(names.contains("nav") && names.contains("aria-label="))
    #expect(!page.contains(/href="(?!#|https?:\/\/)/))
  }

  @Test func `verdicts, root causes and commands are there without a script`() throws {
    let page = try withoutBlocks(html(Samples.allVerdicts()))
    #expect(page.contains("Error <span class=\"exit\">exit code 2</span>"))
    #expect(page.contains("stage <b class=\"stage\">motion</b>"))
    #expect(page.contains("<code>retake accept yard/motion --root-cause r1 --reason TEXT</code>"))
    #expect(page.contains("camera: equal. grey: equal. motion: root cause. boxes: downstream."))
    #expect(page.contains("<code>session.media.checksum</code>"))
    #expect(page.contains("<td>238</td><td class=\"delta\">-2</td>"))
  }

  @Test func `a change is not called a regression, in a text or in JSON`() throws {
    let document = Samples.regression()
    let page = try withoutBlocks(html(document))
    #expect(page.contains("<h1>Changed <span class=\"exit\">exit code 1</span>"))
    #expect(!page.lowercased().contains("regression"))
    #expect(!MarkdownReport.render(document).contains("regression"))
    #expect(!TerminalReport.render(document, palette: .plain).contains("regression"))
    let json = try document.encoded()
    #expect(String(decoding: json, as: UTF8.self).contains(#""word":"changed""#))
  }

  @Test func `the speed of a test is said once where there is one case`() throws {
    var document = Samples.regression()
    for index in document.cases.indices {
      document.cases[index].run = ReportRun(
        workers: 2, wallSeconds: 0.1, framesPerSecond: 2208, costsRecorded: 0, costsModelled: 0)
    }
    #expect(try withoutBlocks(html(document)).contains("2 workers, 2,208 frames/s"))
    document.cases.removeFirst()
    let page = try withoutBlocks(html(document))
    #expect(page.contains("<b>1,234</b> frames/s") && !page.contains("2,208"))
  }

  @Test(arguments: [
    (largest: 0.0, words: "frames equal but for numbering or order"),
    (largest: 0.3, words: "frames within tolerance"),
  ])
  func `frames without any error are not said to use a tolerance`(
    largest: Double, words: String
  ) throws {
    var document = Samples.regression()
    document.cases = [Samples.passedCase()]
    document.cases[0].counts = ComparedCounts(compared: 240, same: 145, withinTolerance: 95)
    document.cases[0].headroom = [Headroom(measure: "boxes.position", largest: largest, allowed: 1)]
    let page = try withoutBlocks(html(document))
    #expect(page.contains("<b>95</b> \(words)"), "\(page)")
  }

  @Test func `the embedded document reads back, whatever its labels are`() throws {
    for sample in Sample.allCases {
      let page = try html(sample.document)
      let json = try #require(between(page, "id=\"data\">", "</script>"))
      #expect(try ReportDocument(parsing: Data(json.utf8)) == sample.document)
      #expect(!json.contains("<"))
      #expect(!json.contains("&"))
    }
  }

  @Test func `hostile characters are nowhere in the page`() throws {
    let page = try html(Hostile.document())
    let bad = page.unicodeScalars.filter { scalar in
      (scalar.value < 0x20 && scalar != "\n") || (0x7F...0x9F).contains(scalar.value)
        || (0x2028...0x202E).contains(scalar.value) || scalar.value == 0xFEFF
    }
    #expect(bad.isEmpty)
  }

  @Test func `a report of 18,000 frames and 5,000 findings stays below 5 MB`() throws {
    var item = Samples.changedCase()
    item.timelines = [Samples.timeline(frames: 18_000)]
    item.findings = Excerpt((0..<5_000).map(Samples.finding), total: 5_000)
    let picture = ReportImage(
      frame: FrameID(track: 0, sequence: 120), width: 640, height: 480,
      png: Array(repeating: 0x5A, count: 180_000))
    item.pictures = Array(repeating: picture, count: 10)
    let document = ReportDocument(
      tool: ReportTool(version: "1"), title: "t", exit: ReportExit(code: 1), cases: [item])
    let bytes = try HTMLReport.render(document)
    #expect(bytes.count < 5_000_000)
    #expect(bytes.count > 3_000_000)
  }

  @Test func `pictures and findings beyond the page's bound are left out and counted`() throws {
    var document = Samples.regression()
    let picture = ReportImage(
      frame: FrameID(track: 0, sequence: 1), width: 9, height: 9,
      png: Array(repeating: 1, count: 1_000_000))
    document.cases[1].pictures = [picture, picture, picture]
    document.cases[1].findings = Excerpt((0..<20_010).map(Samples.finding))
    let data = PageData(document)
    #expect(data.document.cases[1].pictures.count == 1)
    #expect(data.document.cases[1].findings.items.count == PageData.findingsMax)
    #expect(data.document.cases[1].findings.total == 20_010)
    #expect(
      data.notes == [
        "10 findings not on this page; report.json has them.",
        "2 pictures not on this page, to keep it small.",
      ])
  }

  @Test func `a picture that is no base64 stays out of the page`() {
    var document = Samples.regression()
    document.cases[1].pictures[0].png = "\"><script>"
    #expect(PageData(document).document.cases[1].pictures.isEmpty)
  }

  @Test func `a served page has the name of its program, as a shell reads it`() throws {
    let served = HTMLReport.Served(
      root: "/token/", canAccept: true, program: ProgramName("/opt/my tools/yard"))
    let page = String(
      decoding: try HTMLReport.render(Samples.regression(), served: served), as: UTF8.self)
    #expect(page.contains("data-program=\"&#39;/opt/my tools/yard&#39;\""))
    #expect(!page.contains("Run retake test") && !page.contains("Is retake report"))
  }

  @Test func `sentences of a document name the program that runs`() {
    var document = Samples.regression()
    document.notes = ["see: retake test"]
    document.cases[0].suspects = [ReportSuspect(kind: "change", text: "('retake verify' finds it)")]
    document.cases[0].error = ReportProblem(
      code: "x", message: "no", advice: "Make one: retake import FILE")
    document.nameCommands(ProgramName("./mine"))
    #expect(document.notes == ["see: ./mine test"])
    #expect(document.cases[0].suspects[0].text == "('./mine verify' finds it)")
    #expect(document.cases[0].error?.advice == "Make one: ./mine import FILE")
  }

  @Test func `a page of more than 50 MB says so, in the page and without a script`() throws {
    let warning = "This page is larger than 50 MB and slow to open; try the command report serve."
    func page(_ characters: Int) throws -> String {
      var document = Samples.regression()
      document.cases[1].notes = [String(repeating: "x", count: characters)]
      return try html(document)
    }
    let large = try page(PageData.pageBytesWarning)
    #expect(large.utf8.count > 50_000_000)
    #expect(withoutBlocks(large).contains("<p class=\"note\">\(warning)</p>"))
    #expect(try !page(PageData.pageBytesWarning / 2).contains(warning))
  }

  @Test func `error curves of many cases lose detail until the page stays small`() throws {
    var document = Samples.regression()
    let numbers = (0..<8_192).map { Double($0 % 7) }
    let curve = TimelineErrors(measure: "boxes.position", allowed: 1, largest: numbers)
    document.cases[1].timelines[0].errors = Array(repeating: curve, count: 6)
    #expect(PageData(document).document.cases[1].timelines == document.cases[1].timelines)
    document.cases = (0..<40).map { index in
      var item = document.cases[1]
      item.name = "case-\(index)"
      return item
    }
    let curves = PageData(document).document.cases.flatMap(\.timelines).flatMap(\.errors)
    let left = curves.reduce(0) { $0 + $1.largest.count + $1.least.count }
    #expect(left <= PageData.errorNumbersMax && left > PageData.errorNumbersMax / 3)
    for curve in curves {
      #expect(curve.framesPerBin * curve.largest.count == 8_192)
      #expect(curve.largest.allSatisfy { $0 == 6 } && curve.least.allSatisfy { $0 == 0 })
    }
  }

  @Test func `a decision's causes are there without a script`() throws {
    let page = try withoutBlocks(html(Samples.regression()))
    let chain = "<ol class=\"because\"><li>because drop of frame 0:12 at motion is new</li></ol>"
    // In the groups, and line by line.
    #expect(page.components(separatedBy: chain).count == 3)
  }

  @Test func `the page's data escapes what the terminal escapes`() throws {
    let values = Array(0x80...0xFFFF) + Array(0x1F600...0x1F64F) + Array(0xDFFF0...0xE1010)
    let scalars = values.compactMap { Unicode.Scalar(UInt32($0)) }
    let different = scalars.filter { scalar in
      let escaped = String(decoding: PageData.escaped(Array("\(scalar)".utf8)), as: UTF8.self)
      return escaped != visibleJSON("\(scalar)")
    }
    #expect(different.isEmpty)
    let text = "\"\u{E0041}\u{AD}\u{3164}é漢\u{1F600}<\""
    let escaped = PageData.escaped(Array(text.utf8))
    #expect(
      String(decoding: escaped, as: UTF8.self)
        == "\"\\udb40\\udc41\\u00ad\\u3164é漢\u{1F600}\\u003c\"")
  }

  @Test func `only addresses of the web become links`() {
    #expect(CaseMarkup.link("https://example.org/1") == "https://example.org/1")
    #expect(CaseMarkup.link("javascript:alert(1)") == nil)
    #expect(CaseMarkup.link("data:text/html,x") == nil)
    #expect(CaseMarkup.link(nil) == nil)
  }

  @Test func `the page has landmarks, one title, and headings in order`() throws {
    let page = try withoutBlocks(html(Samples.allVerdicts()))
    for tag in ["<header class=\"banner", "<nav ", "<main ", "<footer>"] {
      #expect(page.components(separatedBy: tag).count == 2, "\(tag)")
    }
    let levels = page.matches(of: /<h([1-6])/).compactMap { Int($0.1) }
    #expect(levels.first == 1)
    #expect(levels.count { $0 == 1 } == 1)
    for (before, after) in zip(levels, levels.dropFirst()) { #expect(after <= before + 1) }
    for input in page.matches(of: /<(?:input|select) id="([a-z]+)"/) {
      #expect(page.contains("<label class=\"sr\" for=\"\(input.1)\">"))
    }
  }

  private func html(_ document: ReportDocument) throws -> String {
    String(decoding: try HTMLReport.render(document), as: UTF8.self)
  }

  /// The page without its own style, script and data.
  private func withoutBlocks(_ page: String) -> String {
    var result = page
    for (start, end) in [
      ("<style>", "</style>"), ("<script type=\"application/json\"", "</script>"),
      ("<script>", "</script>"),
    ] {
      guard let from = result.range(of: start),
        let to = result.range(of: end, range: from.upperBound..<result.endIndex)
      else { continue }
      result.removeSubrange(from.lowerBound..<to.upperBound)
    }
    return result
  }

  private func between(_ text: String, _ start: String, _ end: String) -> String? {
    guard let from = text.range(of: start),
      let to = text.range(of: end, range: from.upperBound..<text.endIndex)
    else { return nil }
    return String(text[from.upperBound..<to.lowerBound])
  }
}
