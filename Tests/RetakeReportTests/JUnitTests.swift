import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeReport

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite struct JUnitTests {
  @Test func `every check is one test case, and verdicts map as CI reads them`() throws {
    let suites = try parse(JUnitReport.render(Samples.allVerdicts()))
    #expect(suites.name == "testsuites")
    let cases = suites.descendants("testcase")
    #expect(
      cases.map { "\($0["classname"])|\($0["name"])|\($0.children.first?.name ?? "-")" } == [
        "yard|downsample / results|-", "yard|motion-slow / results|skipped",
        "yard|motion-slow / decisions|-", "yard|motion / results|failure",
        "yard|motion / decisions|-", "yard|missing / results|failure",
        "yard|stale / results|error", "yard|not comparable / results|error",
        "street|motion / results|error",
      ])
    #expect(suites["tests"] == "9")
    #expect(suites["failures"] == "2")
    #expect(suites["errors"] == "3")
    #expect(suites.children.map { $0["skipped"] } == ["1", "0"])
  }

  @Test(arguments: Sample.allCases)
  func `the structure is the one of the JUnit schema`(_ sample: Sample) throws {
    let root = try parse(JUnitReport.render(sample.document))
    #expect(root.children.allSatisfy { $0.name == "testsuite" })
    var names: Set<String> = []
    for suite in root.children {
      #expect(suite.children.allSatisfy { $0.name == "testcase" })
      let outcomes = suite.children.flatMap(\.children).map(\.name)
      #expect(suite["tests"] == String(suite.children.count))
      #expect(suite["failures"] == String(outcomes.count { $0 == "failure" }))
      #expect(suite["errors"] == String(outcomes.count { $0 == "error" }))
      #expect(suite["skipped"] == String(outcomes.count { $0 == "skipped" }))
      for test in suite.children {
        #expect(names.insert("\(test["classname"])|\(test["name"])").inserted)
        #expect(test.children.count <= 1)
        #expect(Double(test["time"]) != nil)
      }
    }
  }

  @Test func `a time has no exponent, however short it is`() {
    #expect(
      [0.000_01, 0, .nan, 0.25, 61.000_4].map(JUnitReport.time) == ["0", "0", "0", "0.25", "61"])
  }

  @Test(arguments: Sample.allCases)
  func `elements have the attributes of the schema and no others`(_ sample: Sample) throws {
    let root = try parse(JUnitReport.render(sample.document))
    var seen: Set<String> = []
    for element in [root]
      + ["testsuite", "testcase", "failure", "error", "skipped"]
      .flatMap({ root.descendants($0) })
    {
      let rule = try #require(JUnitSchema.attributes[element.name])
      let allowed = rule.map { $0.hasSuffix("!") ? String($0.dropLast()) : $0 }
      #expect(element.attributes.keys.allSatisfy(allowed.contains), "\(element.name)")
      for name in rule where name.hasSuffix("!") {
        #expect(element.attributes[String(name.dropLast())] != nil, "\(name)")
      }
      seen.insert(element.name)
    }
    #expect(seen.isSuperset(of: ["testsuites", "testsuite", "testcase", "failure"]))
  }

  @Test(
    .enabled(if: hasCommand("xmllint"), "xmllint is not on this machine"),
    arguments: Sample.allCases)
  func `xmllint finds it valid`(_ sample: Sample) throws {
    let folder = try TemporaryFolder("retake-report")
    let schema = try folder.write(JUnitSchema.text, to: "junit.xsd")
    let text = JUnitReport.render(sample.document)
    let file = try folder.write(text, to: "junit.xml")
    let result = try runCommand(
      "xmllint", arguments: ["--noout", "--schema", schema.path, file.path])
    #expect(result.status == 0, "\(result.stderr)")
    let wrong = try folder.write(
      text.replacing("<testsuites ", with: "<testsuites skipped=\"1\" "), to: "wrong.xml")
    let refused = try runCommand(
      "xmllint", arguments: ["--noout", "--schema", schema.path, wrong.path])
    #expect(refused.status == 3)
  }

  @Test func `a failure is shorter than 80 lines and says how much is left out`() throws {
    var document = Samples.regression()
    document.cases[1].findings = Excerpt((0..<500).map(Samples.finding), total: 1218)
    let failure = try #require(
      parse(JUnitReport.render(document)).descendants("failure").first)
    let lines = failure.text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count < 80)
    #expect(lines.last == "… and 1,145 other findings")
    #expect(failure["message"] == "1,218 differences")
    #expect(lines[1].hasPrefix("first divergence at frame 0:120 (t = 4.000 s), stage motion"))
  }

  @Test(.enabled(if: hasCommand("xmllint"), "xmllint is not on this machine"))
  func `xmllint reads even hostile labels`() throws {
    let folder = try TemporaryFolder("retake-report")
    let file = try folder.write(JUnitReport.render(Hostile.document()), to: "junit.xml")
    let result = try runCommand("xmllint", arguments: ["--noout", file.path])
    #expect(result.status == 0, "\(result.stderr)")
  }

  private func parse(_ text: String) throws -> Element {
    let reader = ElementReader()
    let parser = XMLParser(data: Data(text.utf8))
    parser.delegate = reader
    #expect(parser.parse(), "\(String(describing: parser.parserError))")
    return try #require(reader.root)
  }
}

/// An element of a parsed XML document.
final class Element {
  let name: String
  let attributes: [String: String]
  var children: [Element] = []
  var text = ""

  init(_ name: String, _ attributes: [String: String]) {
    self.name = name
    self.attributes = attributes
  }

  subscript(name: String) -> String { attributes[name] ?? "" }

  func descendants(_ name: String) -> [Element] {
    children.flatMap { ($0.name == name ? [$0] : []) + $0.descendants(name) }
  }
}

private final class ElementReader: NSObject, XMLParserDelegate {
  var root: Element?
  private var open: [Element] = []

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    let element = Element(name, attributes)
    open.last?.children.append(element)
    if root == nil { root = element }
    open.append(element)
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) {
    open.last?.text += text
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    open.removeLast()
  }
}

func hasCommand(_ name: String) -> Bool {
  (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
    FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
  }
}
