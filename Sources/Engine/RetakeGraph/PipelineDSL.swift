public import RetakeBuffers
import RetakeCore

extension Pipeline {
  /// Starts a pipeline: `Pipeline.named("motion").source(.session()).stage(Gray())…`
  public static func named(_ name: String) -> PipelineStart { PipelineStart(name: name) }
}

/// A pipeline that has a name and no source yet.
public struct PipelineStart: Sendable {
  package var name: String

  /// Adds the source. Its default ID is `camera`.
  public func source(_ source: AnyStage, id: String = "camera") -> PipelineChain<Frame> {
    requirement(source.signature.role == .source, "a pipeline begins with a source")
    let node = PipelineNode(id: id, stage: source)
    return PipelineChain(
      pipeline: Pipeline(name: name, nodes: [node], edges: []), last: id)
  }
}

extension Pipeline {
  /// The kind; from the second node of a kind on, the kind and a number.
  func freeID(for kind: String) -> String {
    let taken = Set(nodes.map(\.id))
    guard taken.contains(kind) else { return kind }
    var number = 2
    // Ends: the nodes are fewer than the numbers.
    while taken.contains("\(kind)-\(number)") { number += 1 }
    return "\(kind)-\(number)"
  }
}

extension PipelineNode {
  /// Whether a string is `[a-z][A-Za-z0-9-]*` and at most 64 characters long.
  package static func isValidID(_ text: String) -> Bool {
    guard let first = text.utf8.first, (97...122).contains(first), text.utf8.count <= 64 else {
      return false
    }
    return text.utf8.allSatisfy {
      (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || $0 == 45
    }
  }
}
