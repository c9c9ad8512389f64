import Foundation
import Retake
import RetakeTestSupport
import Testing

@testable import RetakeCommand

/// All code in README, docs and the pages for DocC is compiled, parsed or run.
@Suite struct FenceTests {
  /// The regions of a file of samples, by page.
  private static func samples(in text: String) -> [String: [String]] {
    var found: [String: [String]] = [:]
    var open: (page: String, lines: [String])?
    for line in text.components(separatedBy: "\n") {
      let mark = line.trimmingCharacters(in: .whitespaces)
      if mark.hasPrefix("// "), Pages.hasSamples(String(mark.dropFirst(3))) {
        open = (String(mark.dropFirst(3)), [])
      } else if mark == "// end", let region = open {
        found[region.page, default: []].append(unindented(region.lines))
        open = nil
      } else {
        open?.lines.append(line)
      }
    }
    return found
  }

  private static func unindented(_ lines: [String]) -> String {
    let indents = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }
    let indent = indents.min() ?? 0
    return lines.map { String($0.dropFirst(indent)) }.joined(separator: "\n")
  }

  @Test func `each Swift block of the docs is one that was compiled`() throws {
    let files = try Pages.sampleFiles.map { try Pages.text(of: $0) }
    let compiled = Self.samples(in: files.joined(separator: "\n"))
    let shown = Dictionary(
      grouping: Pages.fences("swift").filter { Pages.hasSamples($0.page) }, by: \.page
    ).mapValues { $0.map(\.text) }
    #expect(shown.values.joined().count > 8)
    #expect(shown.keys.count { $0.hasPrefix(Pages.catalog) } == 5)
    #expect(shown == compiled)
  }

  @Test func `README's program is the example, which a test builds and runs`() throws {
    let fences = Pages.fences("swift").filter { !Pages.hasSamples($0.page) }
    let example = try Pages.text(of: "Examples/FirstReplay/Sources/FirstReplay/main.swift")
    #expect(fences.map(\.text) == [example.trimmingCharacters(in: .newlines)])
  }

  @Test(arguments: Pages.fences("json"))
  func `each JSON block is a document that can be used`(fence: Fence) throws {
    let data = Data(fence.text.utf8)
    if fence.text.contains("\"heat\": {") {
      let folder = try TemporaryFolder()
      let profile = try DeviceProfile(reading: folder.write(fence.text, to: "p.json").path)
      #expect(profile.heat != nil)
      return
    }
    let isPipeline = fence.text.contains("\"nodes\"")
    guard isPipeline, !Pages.needsFile.contains(fence.page) else {
      _ = try JSONSerialization.jsonObject(with: data)
      return
    }
    let pipeline = try PipelineDocument.parse(data, catalog: StageRegistry.builtIn)
    #expect(!pipeline.name.isEmpty)
  }

  @Test(arguments: Pages.fences("yaml"))
  func `each YAML block is part of a project or of a golden that can be read`(
    fence: Fence
  ) throws {
    guard !fence.text.hasPrefix("accepted:") else {
      #expect(try JSONValue(yaml: fence.text)?["accepted"] != nil)
      return
    }
    let folder = try TemporaryFolder()
    let text = fence.text.hasPrefix("v: 1") ? fence.text : "v: 1\n" + fence.text
    try folder.write(text, to: "retake.yml")
    let project = try Project(reading: folder.url.path)
    let isUsed =
      !project.cases.isEmpty || !project.compare.bySink.isEmpty
      || project.budgets != GoldenManifest.Budgets() || project.store.remote != nil
    #expect(project.hasFile && isUsed)
  }

  @Test(arguments: Pages.fences("sh"))
  func `each command of retake that the docs show has its options`(fence: Fence) throws {
    for line in fence.text.split(separator: "\n") {
      var words = ShellWords.first(in: String(line))
      guard words.first == "retake" else { continue }
      words.removeFirst()
      // A placeholder for the reader is not an option.
      #expect(throws: Never.self, "\(fence.page): \(line)") {
        _ = try Root.parseAsRoot(words)
      }
    }
  }

  @Test func `each command in the table of what can be imported has its options`() throws {
    let page = try Pages.text(of: "docs/importing.md")
    let commands = page.split(separator: "\n").filter { $0.hasPrefix("|") }
      .flatMap { $0.matches(of: #/`(retake [^`]+)`/#).map { String($0.1) } }
    #expect(commands.count > 10)
    for command in commands {
      #expect(throws: Never.self, "\(command)") {
        _ = try Root.parseAsRoot(Array(ShellWords.first(in: command).dropFirst()))
      }
    }
  }

  @Test func `an option that does not exist is found`() {
    #expect(throws: (any Error).self) {
      _ = try Root.parseAsRoot(
        ShellWords.first(in: "retake test --nosuch  # tests")
          .dropFirst().map { $0 })
    }
    #expect(ShellWords.first(in: "retake a 'b c' \"d\" | head") == ["retake", "a", "b c", "d"])
    #expect(ShellWords.first(in: "retake a > b") == ["retake", "a"])
    #expect(ShellWords.first(in: "retake a   # says why") == ["retake", "a"])
  }

  @Test func `pages in folders of docs, and pages of DocC, are read, too`() {
    #expect(Pages.fences.contains { $0.page == "docs/formats/goldens.md" })
    #expect(Pages.fences.contains { $0.page == "Sources/EntryPoints/Retake/Retake.docc/Live.md" })
  }

  @Test func `the samples of DocC are found, and other comments are not`() {
    let page = "Sources/EntryPoints/Retake/Retake.docc/Live.md"
    let text = "// Sources/EntryPoints\nlet a = 0\n  // \(page)\n  let a = 1\n  // end\nlet a = 2\n"
    #expect(Self.samples(in: text) == [page: ["let a = 1"]])
  }

  @Test func `blocks are found, with what they say they are`() {
    let text = "a\n```swift\nlet a = 1\n```\n```\nout\n```\n  ```sh\n  retake\n  ```\n"
    let fences = Pages.fences(of: "P.md", in: text)
    #expect(fences.map(\.language) == ["swift", "", "sh"])
    #expect(fences.map(\.text) == ["let a = 1", "out", "  retake"])
    #expect(fences.map(\.line) == [3, 6, 9])
  }
}
