import Foundation
import RetakeRecord
import RetakeStages
import RetakeSuite
import RetakeTestSupport

/// A temporary folder with a retake.yml, a pipeline and synthetic recordings.
package struct ProjectFixture {
  package static let pipeline = """
    {"v": 1, "name": "motion-boxes",
     "nodes": [
      {"id": "camera", "kind": "session"},
      {"id": "grey", "kind": "grey"},
      {"id": "motion", "kind": "motion", "options": {"threshold": 24}, "cost": {"fixed": "45ms"}},
      {"id": "boxes", "kind": "results", "primary": true}],
     "edges": [
      {"from": "camera", "to": "grey"},
      {"from": "grey", "to": "motion", "capacity": 3, "policy": "dropNewest"},
      {"from": "motion", "to": "boxes"}]}
    """

  package static let document = """
    v: 1
    cases:
      motion: {pipeline: motion.json}
      slow: {pipeline: motion.json, mode: simulate, seed: 1}
    suites:
      default: [{sessions: ["*"], cases: [motion]}]
      slow: [{sessions: ["yard-*"], cases: [motion, slow]}]
    """

  package let folder: TemporaryFolder

  package init(_ document: String? = document) throws {
    folder = try TemporaryFolder()
    try folder.write(Self.pipeline, to: "motion.json")
    if let document { try folder.write(document, to: Project.fileName) }
  }

  package func project() throws -> Project { try Project(reading: folder.url.path) }

  /// Records a small synthetic scene.
  package func record(
    _ name: String, frames: Int = 12, seed: Int = 1, width: Int = 96, height: Int = 64
  ) throws {
    var picture = RecordingInput.Image()
    (picture.width, picture.height) = (width, height)
    (picture.seed, picture.frames) = (seed, frames)
    var options = RecorderOptions(
      name: name, into: folder.file("Recordings").path, framesMax: frames, probe: .skip)
    options.pace = .unpaced
    _ = try Recorder(
      try RecordingInput.source("synthetic:figures", picture), options: options
    ) { _ in }.run()
  }

  /// Creates placeholders for sessions when only their names matter.
  package func pretend(_ names: String...) throws {
    for name in names { try folder.write("", to: "Recordings/\(name)/session.sqlite") }
  }

  /// Runs the suite as `retake test` does.
  package func test(_ change: (inout SuiteRun) -> Void = { _ in }) throws -> SuiteRun.Outcome {
    var run = SuiteRun(project: try project(), selection: Selection())
    change(&run)
    return try run.run()
  }

  /// Accepts results as `retake accept` does.
  package func accept(
    _ keys: String..., reason: String = "first golden", dryRun: Bool = false,
    change: (inout Acceptance) -> Void = { _ in }
  ) throws -> [Acceptance.Item] {
    var acceptance = Acceptance(project: try project())
    acceptance.keys = keys
    change(&acceptance)
    return try acceptance.run(reason: reason, isDryRun: dryRun)
  }

  /// Replaces a string in the pipeline.
  package func change(_ old: String, to new: String) throws {
    try folder.write(Self.pipeline.replacing(old, with: new), to: "motion.json")
  }

  /// Paths of all files under a folder, in order.
  package func files(_ path: String) -> [String] {
    let names = try? FileManager.default.subpathsOfDirectory(atPath: folder.file(path).path)
    return (names ?? []).filter { name in
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(
        atPath: folder.file("\(path)/\(name)").path, isDirectory: &isFolder)
      return !isFolder.boolValue
    }.sorted()
  }

  package func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.file(path).path)
  }
}
