import Foundation
import RetakeTestSupport
import Testing

/// The literals that Scripts/embed-resources wrote into the sources match the Resources folders.
@Suite struct EmbeddedResourceTests {
  @Test func `the embedded resources match their files`() throws {
    let check = try runCommand(
      Repository.url("Scripts/embed-resources").path, arguments: ["--check"])
    #expect(check.stderr == "")
    #expect(check.status == 0)
  }

  @Test func `no resource is embedded by the compiler as an array of bytes`() throws {
    let manifest = try String(contentsOf: Repository.url("Package.swift"), encoding: .utf8)
    #expect(!manifest.contains("embedInCode"))
  }
}

/// The script in a separate repository, with planted faults.
@Suite struct PlantedResourceTests {
  let folder: TemporaryFolder
  let script: URL
  let resources = "Sources/Layer/Module/Resources"

  init() throws {
    folder = try TemporaryFolder()
    let text = try String(
      contentsOf: Repository.url("Scripts/embed-resources"), encoding: .utf8)
    script = try folder.write(text, to: "Scripts/embed-resources")
    try folder.write("<p>\n", to: "\(resources)/page.html")
  }

  func run(_ arguments: String...) throws -> CommandResult {
    try runCommand("bash", arguments: [script.path] + arguments)
  }

  func embedded() throws -> String {
    try String(
      contentsOf: folder.file("Sources/Layer/Module/EmbeddedResources.swift"), encoding: .utf8)
  }

  @Test(arguments: ["page.html", "page.css"])
  func `a resource that is changed or added is found`(name: String) throws {
    #expect(try run().status == 0)
    #expect(try run("--check").status == 0)
    try folder.write("<p >\n", to: "\(resources)/\(name)")
    let check = try run("--check")
    #expect(check.status == 1)
    #expect(check.stderr.contains("Sources/Layer/Module/EmbeddedResources.swift does not match"))
    #expect(try run().status == 0)
    #expect(try run("--check").status == 0)
  }

  @Test func `a resource that is removed is found`() throws {
    try folder.write("p {}\n", to: "\(resources)/page.css")
    #expect(try run().status == 0)
    try FileManager.default.removeItem(at: folder.file("\(resources)/page.css"))
    #expect(try run("--check").status == 1)
  }

  @Test func `a Swift file that is changed is found`() throws {
    #expect(try run().status == 0)
    try folder.write(
      embedded().replacing("<p>", with: "<q>"), to: "Sources/Layer/Module/EmbeddedResources.swift")
    #expect(try run("--check").status == 1)
  }

  @Test func `names are those of Swift`() throws {
    try folder.write("{}\n", to: "\(resources)/report.schema.json")
    try folder.write("{}\n", to: "\(resources)/slow-start.mustache")
    #expect(try run().status == 0)
    let names = try embedded().matches(of: /static let (\w+)/).map { $0.1 }
    #expect(names == ["pageHTML", "reportSchemaJSON", "slowStartMustache"])
  }

  @Test func `quotation marks and escapes stay what they are`() throws {
    let text = "\"\"\"# \\##(x) \\n\n\n  deep"
    try folder.write(text, to: "\(resources)/page.html")
    #expect(try run().status == 0)
    #expect(try embedded().contains("= ###\"\"\"\n\(text)\n\"\"\"###\n}\n"))
  }

  @Test(arguments: ["a\r\n", "a\u{0}b", "a\u{1B}[31m", "\u{7F}"])
  func `what a Swift literal cannot hold is refused`(text: String) throws {
    try folder.write(text, to: "\(resources)/page.html")
    let result = try run()
    #expect(result.status == 2)
    #expect(result.stderr.contains("page.html has a control character"))
  }

  @Test func `bytes that are not UTF-8 are refused`() throws {
    try Data([0x61, 0xff, 0x0a]).write(to: folder.file("\(resources)/page.html"))
    let result = try run()
    #expect(result.status == 2)
    #expect(result.stderr.contains("page.html is not UTF-8"))
  }
}
