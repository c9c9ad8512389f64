import Foundation
import RetakeTestSupport
import Testing

/// `retake reduce`: what it prints and writes. `ReductionTests` reduces each kind of regression.
@Suite struct ReduceTests {
  /// The session `figures` with a golden, and another threshold since then.
  private func changed() throws -> Workplace {
    let workplace = try Workplace()
    let sessions = workplace.folder.file("Recordings")
    try FileManager.default.createDirectory(at: sessions, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: packageRoot.appending(path: "Recordings/figures"),
      to: sessions.appending(path: "figures"))
    try workplace.writePipeline()
    try workplace.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\n", to: "retake.yml")
    #expect(try workplace.retake("test").status == 3)
    #expect(try workplace.retake("accept", "--reason", "first golden").status == 0)
    try workplace.git("init", "-q", "-b", "main")
    try workplace.git("add", "motion.json", "retake.yml")
    try workplace.git("commit", "-q", "-m", "first")
    try workplace.writePipeline(replacing: "\"threshold\": 24", with: "\"threshold\": 26")
    return workplace
  }

  @Test func `the reduced project shows the root cause, and the page shows the output`() throws {
    let workplace = try changed()
    let result = try workplace.retake("reduce", "figures/motion", "--output", "bug")
    #expect(result.status == 0, "\(result.stderr)")
    let shown = try PageBlock.blocks(of: "docs/reduce-bisect.md").filter { $0.language.isEmpty }[0]
    #expect(PageBlock.missing(shown.lines, in: result.stdout) == [], "\(result.stdout)")
    let test = try runCommand(
      Workplace.binary, arguments: ["test", "--json"], environment: ["CI": "true"],
      folder: workplace.folder.file("bug"))
    #expect(test.status == 1, "\(test.stderr)")
    #expect(try test.json().cases[0].rootCauses[0].id.text == "motion@0:1")
    let second = try workplace.retake("reduce", "figures/motion", "--output", "bug")
    #expect(second.stderr.contains("[suite.output.exists]"), "\(second.stderr)")
  }

  @Test func `a revision's pipeline needs no golden`() throws {
    let workplace = try changed()
    try FileManager.default.removeItem(at: workplace.folder.file("Goldens"))
    let result = try workplace.retake("reduce", "figures/motion", "--base", "HEAD", "--json")
    #expect(result.status == 0, "\(result.stderr)")
    let report = try result.json()
    #expect(report.base.text == "revision")
    #expect(report.frames.int == 2)
    #expect(workplace.exists("figures-motion-reduced/Goldens/figures/motion/pipeline.json"))
  }
}
