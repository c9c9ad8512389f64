import CRetake
import Foundation
import Retake

/// A pipeline document of a caller, with the kinds of stages that the caller permits.
struct Document: Sendable {
  let pipeline: Pipeline
  let catalog: StageRegistry
}

extension Document {
  /// - Throws: `Problem`.
  init(_ json: Data, permissions: UInt32) throws {
    guard permissions & ~RETAKE_ALLOW_PROCESSES.rawValue == 0 else {
      throw Problem.value("there are no permissions \(permissions)")
    }
    let allowsPrograms = permissions & RETAKE_ALLOW_PROCESSES.rawValue != 0
    catalog = StageRegistry.builtIn.allowing(allowsPrograms ? .all : .named([]))
    do {
      pipeline = try PipelineDocument.parse(json, catalog: catalog)
    } catch let error as PipelineError {
      var problem = Problem(RETAKE_ERROR_DOCUMENT, error)
      if !allowsPrograms, problem.message.contains("may not be started") {
        // The engine's advice is about retake.yml, which this library does not read.
        problem.advice = "If you trust the document, set permissions to RETAKE_ALLOW_PROCESSES"
        problem.text = "at \(problem.pointer): \(problem.message). \(problem.advice)"
      }
      throw problem
    }
  }

  var digest: String { pipeline.digest.description }

  /// - Throws: `PipelineError`.
  func canonicalText() throws -> String {
    try PipelineDocument.json(of: pipeline).canonicalText
  }
}
