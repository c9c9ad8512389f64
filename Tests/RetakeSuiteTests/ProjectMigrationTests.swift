import Foundation
import RetakeGolden
import RetakeGraph
import RetakeStages
import RetakeSuite
import RetakeTestSupport
import Testing

/// Documents with words from before they were renamed.
@Suite struct ProjectMigrationTests {
  private static let project = """
    v: 1
    # motion, as lossless as it can be
    cases:
      motion: {pipeline: motion.json, mode: lossless}   # every frame
      "slow": {pipeline: motion.json, mode: "redecide", costs: tape, seed: 1}
      phone:
        pipeline: motion.json
        costs: 'tape:clip.txt+profile:phone.json'
        quantisation: {boxes: {box: 0.1}}
      redecide: {pipeline: motion.json, mode: every-frame}

    """

  private static let pipeline = """
    {"v": 1, "name": "quantum",
     "nodes": [
      {"id": "camera", "kind": "session"},
    \t{"id": "lanes", "kind": "grey", "lanes": 2},
      {"id": "boxes", "kind": "results", "quantum": {"scalar": 0.001}}],
     "edges": [{"from": "camera", "to": "lanes"}, {"from": "lanes", "to": "boxes"}]}

    """

  private static let golden = """
    v: 1
    case: {name: motion, pipeline: motion.json, mode: redecide, costs: tape:12345678, seed: 0}
    quantisation: {boxes: {box: 0.1}}
    accepted: [{at: 2026-11-21, reason: "roots: [], mode: lossless", roots: [], frames: 6}]

    """

  private func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try folder.write(Self.project, to: "retake.yml")
    try folder.write(Self.pipeline, to: "Pipelines/motion.json")
    try folder.write(Self.golden, to: "Goldens/yard/motion/golden.yml")
    try folder.write("#!/bin/sh\nretake test --mode lossless\n", to: "ci.sh")
    try folder.write("v: 1\ncases: {}\n", to: "other/retake.yml")
    try folder.write(Self.pipeline, to: "other/motion.json")
    return folder
  }

  private func text(_ folder: TemporaryFolder, _ path: String) throws -> String {
    try String(contentsOf: folder.file(path), encoding: .utf8)
  }

  @Test func `only the words of documents change`() throws {
    let folder = try folder()
    let result = try ProjectMigration(folder: folder.url.path).run(isCheck: false)

    #expect(
      try text(folder, "retake.yml")
        == Self.project.replacing("mode: lossless}", with: "mode: every-frame}")
        .replacing("\"redecide\"", with: "\"simulate\"").replacing(
          "costs: tape", with: "costs: timings"
        )
        .replacing("'tape:", with: "'timings:").replacing("quantisation", with: "precision"))
    #expect(
      try text(folder, "Pipelines/motion.json")
        == Self.pipeline.replacing("\"lanes\": 2", with: "\"concurrency\": 2")
        .replacing("\"quantum\": {", with: "\"precision\": {"))
    #expect(
      try text(folder, "Goldens/yard/motion/golden.yml")
        == Self.golden.replacing("redecide", with: "simulate").replacing("tape:", with: "timings:")
        .replacing("quantisation", with: "precision")
        .replacing("\", roots: []", with: "\", rootCauses: []"))
    #expect(try text(folder, "other/motion.json") == Self.pipeline)
    #expect(result.otherProjects == ["other"])
    #expect(result.changes.count == 11)
    let changed = result.changes.map { "\($0.file):\($0.line): \($0.old) → \($0.new)" }
    #expect(changed.contains("retake.yml:4: lossless → every-frame"))
    #expect(result.hints.map(\.file) == ["ci.sh"] && result.hints.map(\.line) == [2])

    let again = try ProjectMigration(folder: folder.url.path).run(isCheck: false)
    #expect(again.changes.isEmpty)
  }

  @Test func `a check changes nothing`() throws {
    let folder = try folder()
    let result = try ProjectMigration(folder: folder.url.path).run(isCheck: true)
    #expect(result.changes.count == 11)
    #expect(try text(folder, "retake.yml") == Self.project)
    #expect(try text(folder, "Pipelines/motion.json") == Self.pipeline)
  }

  @Test func `nothing is written if a document cannot be read`() throws {
    let folder = try folder()
    try folder.write("v: 1\ncases: {", to: "retake.yml")
    #expect(throws: SuiteError.self) {
      try ProjectMigration(folder: folder.url.path).run(isCheck: false)
    }
    #expect(try text(folder, "Pipelines/motion.json") == Self.pipeline)
    #expect(throws: SuiteError.self) { try ProjectMigration(folder: "/nowhere/at/all") }
  }

  @Test func `a file or folder that is not searched is named, or an error`() throws {
    let folder = try folder()
    try folder.write("{\"nodes\": [", to: "Pipelines/cut.json")
    #expect(
      try ProjectMigration(folder: folder.url.path).run(isCheck: true).unsearched
        == ["Pipelines/cut.json"])
    #expect(throws: SuiteError.tooManyFiles(path: folder.url.path, most: 3)) {
      try ProjectMigration(folder: folder.url.path, entriesMax: 3).run(isCheck: false)
    }
    // Larger than a document may be.
    try folder.write(String(repeating: " ", count: 3_000_000), to: "Goldens/golden.yml")
    let error = #expect(throws: SuiteError.self) {
      try ProjectMigration(folder: folder.url.path).run(isCheck: false)
    }
    #expect(error?.code == "suite.migrate.notReadable")
    #expect(try text(folder, "retake.yml") == Self.project)
  }

  @Test func `scripts with renamed commands and options are listed`() throws {
    let folder = try folder()
    let lines = [
      "retake session doctor yard", "retake record cam --ring 10s", "python record.py --ring",
      "retake golden stale", "retake replay yard --pipeline m.json --costs tape",
    ]
    try folder.write(lines.joined(separator: "\n"), to: "ci.sh")
    let hints = try ProjectMigration(folder: folder.url.path).run(isCheck: true).hints
    #expect(hints.map(\.line) == [1, 2, 4, 5])
    #expect(
      hints.map(\.new) == [
        "retake session check", "--pre-trigger", "retake golden list --stale", "--costs timings",
      ])
  }

  @Test func `an old word in a document names the new one and the command`() throws {
    let advice = "Rewrite the project's documents: retake migrate"
    let data = Data(Self.pipeline.utf8)
    let error = #expect(throws: PipelineError.self) {
      try PipelineDocument.parse(data, catalog: StageRegistry.builtIn)
    }
    #expect(error?.advice?.contains("'lanes' was renamed to 'concurrency'. \(advice)") == true)
    #expect(throws: PipelineError.self) {
      try PipelineDocument.parse(
        Data(Self.pipeline.replacing("\"lanes\": 2", with: "\"concurrency\": 2").utf8),
        catalog: StageRegistry.builtIn)
    }
    let folder = try folder()
    let wrong = #expect(throws: SuiteError.self) { try Project(reading: folder.url.path) }
    #expect(wrong?.advice?.contains("renamed") == true && wrong?.advice?.contains(advice) == true)
    let golden = #expect(throws: GoldenError.self) {
      try GoldenManifest(parsing: Self.golden, file: "golden.yml")
    }
    #expect(golden?.advice?.contains(advice) == true)
  }

  @Test func `the files of CI systems have hints, and other hidden files do not`() throws {
    let folder = try folder()
    let files = [
      ".circleci/config.yml", ".github/workflows/ci.yml", ".gitlab-ci.yml", ".woodpecker/test.yaml",
      "Jenkinsfile",
    ]
    for file in files { try folder.write("run: retake test --costs tape\n", to: file) }
    try folder.write("run: retake test --costs tape\n", to: ".git/hooks/old.sh")
    let hints = try ProjectMigration(folder: folder.url.path).run(isCheck: true).hints
    #expect(hints.filter { $0.old == "--costs tape" }.map(\.file) == files)
  }

  @Test func `a stored document is read with its old words, and has the same digest`() throws {
    let registry = StageRegistry.builtIn
    let stored = try PipelineDocument.parseStored(Data(Self.pipeline.utf8), catalog: registry)
    let text = Self.pipeline.replacing("\"lanes\": 2", with: "\"concurrency\": 2")
      .replacing("\"quantum\": {", with: "\"precision\": {")
    let renamed = try PipelineDocument.parse(Data(text.utf8), catalog: registry)
    #expect(stored.digest == renamed.digest)
    let records = try [Self.pipeline, text].map { try PipelineRecord(parsing: Data($0.utf8)) }
    #expect(records[0] == records[1] && records[0].digest == records[1].digest)
  }
}
