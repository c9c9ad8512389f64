import Foundation
import RetakeCore
import RetakeForeign
import RetakeGolden
import RetakeGraph
import RetakeStages
import RetakeSuite

extension FuzzTarget {
  /// Texts: pipelines, projects, goldens, labels, and the messages of programs.
  static let documents = [
    FuzzTarget("pipeline") { bytes, _ in try readPipeline(bytes) },
    .file("project", "retake.yml") { file in
      _ = try Project(reading: file.deletingLastPathComponent().path)
    },
    FuzzTarget("manifest") { bytes, _ in
      _ = try GoldenManifest(parsing: String(decoding: bytes, as: UTF8.self), file: "golden.yml")
    },
    FuzzTarget("results") { bytes, _ in
      let chunk = try ResultChunk(bytes, file: "results-00000.gold")
      for block in chunk.blocks { _ = try chunk.frames(of: block) }
    },
    .file("decisions", "decisions.gold") { file in
      let reader = try DecisionFileReader(file)
      // Ends: the file ends.
      while let line = try reader.nextLine() { _ = try reader.entry(line) }
    },
    .file("digests", "digests-any.gold") { file in
      let reader = try StageDigestReader(file, track: 0)
      // Ends: the file ends.
      while try reader.next() != nil {}
    },
    .file("labels", "labels") { file in
      let footage = LabelFootage(session: "yard", track: 0, frames: 4, width: 640, height: 480)
      _ = try LabelImport(file.path).document(for: footage)
    },
    FuzzTarget("message") { bytes, _ in try readMessage(bytes) },
  ]

  private static let catalog: StageRegistry = {
    var registry = StageRegistry.core
    // Without permission: a program that is allowed starts when the document is read.
    registry.registerPrograms()
    return registry
  }()

  /// Also what `retake check` does with a document that is valid.
  private static func readPipeline(_ bytes: [UInt8]) throws {
    let pipeline = try PipelineDocument.parse(Data(bytes), catalog: catalog)
    _ = try pipeline.analyzed()
    let written = try PipelineDocument.json(of: pipeline)
    let copy = try PipelineDocument.parseStored(
      Data(written.canonicalText.utf8), catalog: catalog)
    precondition(copy.digest == pipeline.digest, "a written pipeline is another one")
  }

  /// A message of a stage's program, or of a pipeline's.
  private static func readMessage(_ bytes: [UInt8]) throws {
    let message = try MessageChannel.parse(bytes[...])
    var classNames: [String] = []
    if let ready = message["ready"] {
      for output in ForeignOutput.allCases {
        if let description = try? ForeignReady(ready, output: output) {
          classNames = description.classNames
          _ = description.emptyOuts
        }
      }
    }
    if let error = message["error"] { _ = try StageError(ofProgram: error) }
    if let done = message["done"] { _ = try ProgramCallName(done: done) }
    var value = message["value"]
    if case .out(_, _, let sent)? = try ProgramWord(message) { value = sent }
    guard let value, case .object(let members) = value else { return }
    for name in members.keys.sorted() {
      guard let output = ForeignOutput(rawValue: name) else { continue }
      _ = try output.value(value, classNames: classNames)
    }
  }
}
