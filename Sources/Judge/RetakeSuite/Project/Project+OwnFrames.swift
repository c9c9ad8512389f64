import Foundation
import RetakeCore
import RetakeGraph

extension CaseDefinition {
  /// The name that goldens and reports have in place of a session's, where the pipeline's own
  /// sources have the frames.
  static let ownFrames = "own"
}

extension Project {
  /// Whether a case reads no session, because a source of its pipeline has the frames: `images`,
  /// or one of the user's.
  ///
  /// The document is only looked at, since a selection must not make stages: models would be
  /// loaded and programs started. A document that cannot be read is an error of the case.
  func hasOwnFrames(_ definition: CaseDefinition) -> Bool {
    guard definition.source == nil, definition.tracks.isEmpty, !definition.costs.readsSession,
      let file = pipelineFile(of: definition.pipeline),
      let data = try? RegularFile.head(
        file, links: .followed, count: PipelineDocument.bytesMax + 1),
      data.count <= PipelineDocument.bytesMax,
      case .object(let members)? = try? JSONValue(parsing: data),
      case .array(let nodes)? = members["nodes"]
    else { return false }
    let kinds = nodes.compactMap { node -> String? in
      guard case .object(let members) = node, case .string(let kind)? = members["kind"] else {
        return nil
      }
      return kind
    }
    return !kinds.contains(AnyStage.sessionKind)
      && kinds.contains { catalog.signature(of: $0)?.role == .source }
  }
}
