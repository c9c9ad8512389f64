import Foundation
import RetakeCompare
import RetakeGolden
import RetakeReport
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// Goldens from before the pipeline's document was stored.
@Suite struct GoldenRuleSyncTests {
  private func accepted() throws -> ProjectFixture {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    _ = try fixture.test()
    _ = try fixture.accept()
    return fixture
  }

  private func adopt(_ fixture: ProjectFixture, isDryRun: Bool = false) throws
    -> [GoldenRuleSync.Item]
  {
    try GoldenRuleSync(project: fixture.project(), selection: Selection()).run(isDryRun: isDryRun)
  }

  @Test func `the document comes to a golden and its alternates, and nothing else changes`() throws
  {
    let fixture = try accepted()
    let golden = GoldenFolder(fixture.folder.file("Goldens/yard/motion"))
    #expect(try adopt(fixture).isEmpty)
    let fit = GoldenManifest.Fit(
      at: "2026-11-21", sink: "boxes", quantity: "position", largest: 0.1, allowed: 0.2,
      conditions: ["another hash seed"])
    try golden.setRules(golden.manifest().compare, fitted: [fit])
    let alternate = golden.alternate("linux-riscv64")
    try FileManager.default.createDirectory(
      at: alternate.url, withIntermediateDirectories: false)
    for name in fixture.files("Goldens/yard/motion") where !name.contains("/") {
      try FileManager.default.copyItem(
        at: golden.url.appending(path: name), to: alternate.url.appending(path: name))
    }
    for folder in [golden, alternate] {
      try FileManager.default.removeItem(at: folder.url.appending(path: "pipeline.json"))
    }
    let before = fixture.files("Goldens")
    let manifest = try golden.manifest()

    let said = try adopt(fixture, isDryRun: true)
    #expect(said.map(\.key) == ["yard/motion"] && said[0].note == nil)
    #expect(
      said[0].changes == [
        "pipeline.json: none → motion-boxes, 4 nodes",
        "alternate-linux-riscv64/pipeline.json: none → motion-boxes, 4 nodes",
      ])
    #expect(!said[0].needsResults && fixture.files("Goldens") == before)
    #expect(try adopt(fixture) == said)
    #expect(fixture.files("Goldens").count == before.count + 2)
    #expect(try golden.manifest() == manifest && manifest.fitted == [fit])
    for folder in [golden, alternate] {
      let record = try #require(try folder.pipeline(of: folder.manifest()))
      #expect(!record.hasCosts && record.name == "motion-boxes")
    }
    #expect(try adopt(fixture).isEmpty)
    #expect(try fixture.test().status == .passed)
  }

  @Test func `sinks that retake.yml says nothing of keep their rules, and get those of no other`()
    throws
  {
    let fixture = try ProjectFixture(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\n  light: {pipeline: light.json}\n")
    try fixture.record("yard")
    try fixture.folder.write(
      """
      {"v": 1, "name": "light",
       "nodes": [
        {"id": "camera", "kind": "session"}, {"id": "light", "kind": "luminance"},
        {"id": "means", "kind": "results"}],
       "edges": [{"from": "camera", "to": "light"}, {"from": "light", "to": "means"}]}
      """, to: "light.json")
    _ = try fixture.test()
    _ = try fixture.accept()
    let light = GoldenFolder(fixture.folder.file("Goldens/yard/light"))
    let before = try light.manifest()
    #expect(before.compare.bySink.mapValues(\.mode) == ["means": .numeric])
    try fixture.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\n  light: {pipeline: light.json}\n"
        + "compare: {boxes: {position: 2.5}}\n", to: "retake.yml")
    let items = try adopt(fixture)
    #expect(items.map(\.key) == ["yard/motion"])
    #expect(items.map(\.changes) == [["boxes.position: 0.0 → 2.5"]])
    #expect(try light.manifest() == before)
    let motion = try GoldenFolder(fixture.folder.file("Goldens/yard/motion")).manifest()
    #expect(motion.compare.bySink.mapValues(\.position) == ["boxes": 2.5])
    #expect(try adopt(fixture).isEmpty && fixture.test().status == .passed)
  }

  @Test func `images get a rule for pictures that retake.yml has by now, and lose it`() throws {
    let text = "v: 1\ncases:\n  view: {pipeline: view.json}\n"
    let fixture = try ProjectFixture(text)
    try fixture.record("yard")
    try fixture.folder.write(
      """
      {"v": 1, "name": "view",
       "nodes": [
        {"id": "camera", "kind": "session"}, {"id": "grey", "kind": "grey"},
        {"id": "view", "kind": "results"}],
       "edges": [{"from": "camera", "to": "grey"}, {"from": "grey", "to": "view"}]}
      """, to: "view.json")
    _ = try fixture.test()
    _ = try fixture.accept()
    let golden = GoldenFolder(fixture.folder.file("Goldens/yard/view"))
    #expect(try golden.manifest().compare.bySink == ["view": SinkRule(mode: .exact)])
    try fixture.folder.write(text + "compare: {pictures: {psnrMin: 38}}\n", to: "retake.yml")
    #expect(
      try adopt(fixture).map(\.changes) == [
        ["view.mode: exact → pictures", "view.psnrMin: 0.0 → 38.0"]
      ])
    #expect(try golden.manifest().compare.rule(for: "view").mode == .pictures)
    #expect(try adopt(fixture).isEmpty)
    try fixture.folder.write(text, to: "retake.yml")
    #expect(try adopt(fixture).count == 1)
    #expect(try golden.manifest().compare.bySink == ["view": SinkRule(mode: .exact)])
  }

  @Test func `documents alone leave tolerances and their evidence as they are`() throws {
    let fixture = try accepted()
    let golden = GoldenFolder(fixture.folder.file("Goldens/yard/motion"))
    var rule = SinkRule(mode: .boxes)
    rule.position = 3
    let fit = GoldenManifest.Fit(
      at: "2026-11-21", sink: "boxes", quantity: "position", largest: 2, allowed: 3,
      conditions: ["another hash seed"])
    try golden.setRules(CompareRules(["boxes": rule]), fitted: [fit])
    let manifest = try golden.manifest()
    try FileManager.default.removeItem(at: golden.url.appending(path: "pipeline.json"))
    var adoption = GoldenRuleSync(project: try fixture.project(), selection: Selection())
    adoption.leavesRules = true
    #expect(try adoption.run().map(\.changes) == [["pipeline.json: none → motion-boxes, 4 nodes"]])
    #expect(try golden.manifest() == manifest && adoption.run().isEmpty)
  }

  @Test func `a calibrated tolerance stays until retake.yml states it`() throws {
    let fixture = try accepted()
    let golden = GoldenFolder(fixture.folder.file("Goldens/yard/motion"))
    var rule = SinkRule(mode: .boxes)
    (rule.position, rule.maskIoUMin) = (3, 0.97)
    let fits = [("position", 3.0), ("mask", 0.03)].map { quantity, allowed in
      GoldenManifest.Fit(
        at: "2026-11-21", sink: "boxes", quantity: quantity, largest: allowed / 2,
        allowed: allowed, conditions: ["another hash seed"])
    }
    try golden.setRules(CompareRules(["boxes": rule]), fitted: fits)
    #expect(try adopt(fixture).isEmpty)
    let notes = try fixture.test().document.cases.flatMap(\.notes)
    #expect(!notes.contains { $0.contains("golden sync-rules") }, "\(notes)")
    let cases = "v: 1\ncases:\n  motion: {pipeline: motion.json}\n"
    try fixture.folder.write(cases + "budgets: {droppedMax: 3}\n", to: "retake.yml")
    #expect(try adopt(fixture).map(\.changes) == [["budgets.droppedMax: none → 3"]])
    #expect(try golden.manifest().fitted == fits)
    try fixture.folder.write(
      cases + "budgets: {droppedMax: 3}\ncompare: {boxes: {position: 2.5}}\n", to: "retake.yml")
    #expect(try adopt(fixture).map(\.changes) == [["boxes.position: 3.0 → 2.5"]])
    let manifest = try golden.manifest()
    #expect(manifest.fitted == [fits[1]])
    #expect(manifest.compare.rule(for: "boxes").maskIoUMin == 0.97)
  }

  @Test func `where the pipeline is another one or gone the command says so`() throws {
    let fixture = try accepted()
    let file = fixture.folder.file("Goldens/yard/motion/pipeline.json")
    try FileManager.default.removeItem(at: file)
    try fixture.change("24", to: "40")
    let other = try adopt(fixture)
    #expect(other.map(\.changes) == [[]])
    #expect(other.first?.note?.contains("the pipeline is not the golden's any more") == true)
    try FileManager.default.removeItem(at: fixture.folder.file("motion.json"))
    let gone = try adopt(fixture)
    #expect(gone.first?.note?.hasPrefix("no pipeline.json is added: ") == true)
    #expect(gone.first?.note != other.first?.note)
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test func `the goldens of this repository have the documents of their pipelines`() throws {
    let library = GoldenLibrary(root: packageRoot.appending(path: "Goldens"))
    #expect(library.keys().count >= 10)
    for key in library.keys() {
      let folder = library.folder(key)
      #expect(try folder.pipeline(of: folder.manifest()) != nil, "\(key)")
    }
  }
}
