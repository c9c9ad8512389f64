import Foundation
import RetakeTestSupport
import Testing

/// `retake stress`, as users use it.
@Suite struct StressTests {
  private func yard() throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 30, size: "96x64")
    try workplace.writePipeline()
    try workplace.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\n", to: "retake.yml")
    #expect(try workplace.retake("test").status == 3)
    #expect(try workplace.retake("accept", "--reason", "first").status == 0)
    return workplace
  }

  @Test func `each row's command repeats it, with the same digest`() throws {
    let workplace = try yard()
    let result = try workplace.retake(
      "stress", "yard/motion", "--with", "noise=20,blur=2,drop=40%,freeze=400ms", "--output",
      "worse",
      "--report", "page", "--json")
    #expect(result.status == 0, "\(result.stderr)")
    let rows = try result.json().rows
    #expect(rows.count == 5)
    #expect(rows[0].command.text == "retake test yard/motion" && rows[0].values.changed.int == 0)
    var digests: Set<String?> = []
    for index in 1..<rows.count {
      let row = rows[index]
      let words = try #require(row.command.text).split(separator: " ").map {
        String($0).replacing("'", with: "")
      }
      #expect(words.prefix(2) == ["retake", "replay"])
      let again = try workplace.retake(words: words.dropFirst() + ["--json"])
      #expect(again.status == 0, "\(again.stderr)")
      #expect(try again.json().decisionDigest.text == row.decisionDigest.text, "\(words)")
      digests.insert(row.resultDigest.text)
    }
    #expect(digests.count == 4)
    #expect((rows[3].values.changed.int ?? 0) > 0)
    #expect(workplace.exists("worse/noise20.json") && workplace.exists("worse/blur2.json"))
    let page = try String(contentsOf: workplace.folder.file("page/stress.html"), encoding: .utf8)
    #expect(page.components(separatedBy: "<polyline").count == 5)
    #expect(page.contains("camera:drop=40%,seed=1"))
    // Without documents the command is this stress alone.
    let alone = try workplace.retake(
      "stress", "yard/motion", "--with", "noise=20", "--json", "--workers", "8", "--cache", "none")
    #expect(try alone.json().rows[1].resultDigest.text == rows[1].resultDigest.text)
    #expect(
      try alone.json().rows[1].command.text
        == "retake stress yard/motion --with noise=20 --seed 1")
  }

  @Test func `a table has a line for each strength, and the first change of each side`() throws {
    let result = try yard().retake(
      "stress", "yard", "--with", "brightness=-100%..0%", "--steps", "3", "--budget", "changed=1000"
    )
    #expect(result.status == 0, "\(result.stderr)")
    let lines = result.stdout.split(separator: "\n").map(String.init)
    #expect(lines[0].hasPrefix("perturbation  strength  changed  boxesLost  boxesNew  failed"))
    #expect(lines[2].hasPrefix("brightness       -100%"))
    // A black image has no motion.
    #expect(lines[2].contains("#"))
    #expect(lines.contains { $0.hasPrefix("brightness down: first change at -") })
    #expect(!result.stdout.contains("over changed"))
  }

  @Test(arguments: [
    ["--with", "nois=1"], ["--with", "noise=1", "--budget", "changed"], ["--with", "noise=9..1"],
    ["--with", "noise=1", "--budget", "nothing=1"], ["--with", "noise=1", "--steps", "1"], [],
  ])
  func `a stress that cannot be is a usage error`(words: [String]) throws {
    let result = try Workplace().retake(words: ["stress", "yard/motion"] + words)
    #expect(result.status == 64 && result.stdout.isEmpty, "\(result.stderr)")
  }

  @Test func `a case without a golden is an error that says how to make one`() throws {
    let workplace = try yard()
    try FileManager.default.removeItem(at: workplace.folder.file("Goldens"))
    let result = try workplace.retake("stress", "yard/motion", "--with", "noise=1")
    #expect(result.status == 2 && result.stderr.contains("[suite.stress.noGolden]"))
    #expect(try workplace.retake("stress", "yard/moton", "--with", "noise=1").status == 2)
  }

  @Test func `the page shows what the commands print`() throws {
    let workplace = try Workplace()
    for name in ["retake.yml", "Pipelines", "Goldens/figures/motion", "Recordings/figures"] {
      let target = workplace.folder.file(name)
      try FileManager.default.createDirectory(
        at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.copyItem(at: packageRoot.appending(path: name), to: target)
    }
    let blocks = try PageBlock.blocks(of: "docs/stress.md")
    let shown = try #require(blocks.first { $0.language.isEmpty })
    let result = try workplace.retake(
      "stress", "figures/motion", "--with", "brightness=-40%..40%,drop=0..20%", "--steps", "3")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(
      shown.text.trimmingCharacters(in: .newlines)
        == result.stdout.trimmingCharacters(in: .newlines))
    #expect(blocks[0].text.contains("--with 'brightness=-40%..40%,drop=0..20%' --steps 3"))
  }
}
