import Foundation
import RetakeCore
import RetakeGraph

/// A pipeline's document without some of its branches.
struct PipelineBranches {
  private let json: JSONValue

  /// `nil` for a pipeline with closures, which has no document.
  init?(_ pipeline: Pipeline) {
    guard let json = try? PipelineDocument.json(of: pipeline) else { return nil }
    self.json = json
  }

  /// The pipeline without the nodes that only these sinks need.
  ///
  /// - Throws: `PipelineError` if the rest is no pipeline.
  func pipeline(without sinks: Set<String>, catalog: StageRegistry) throws -> Pipeline {
    let ids = values("nodes").compactMap { Self.text($0["id"]) }
    let edges = values("edges").map { (from: Self.node($0["from"]), to: Self.node($0["to"])) }
    let senders = Set(edges.map(\.from))
    var kept = Set(ids.filter { !senders.contains($0) && !sinks.contains($0) })
    var count = 0
    // Ends: each round adds a node, and there are as many rounds as nodes at most.
    while kept.count > count {
      count = kept.count
      for edge in edges where kept.contains(edge.to) { kept.insert(edge.from) }
    }
    let nodes = values("nodes").filter { Self.text($0["id"]).map(kept.contains) ?? false }
    guard case .object(var members) = json else { return try parsed(json, catalog) }
    members["nodes"] = .array(nodes)
    members["edges"] = .array(
      values("edges").filter { kept.contains(Self.node($0["to"])) })
    for (list, key) in [("executors", "executor"), ("pools", "pool")] where members[list] != nil {
      let used = Set(nodes.compactMap { Self.text($0[key]) })
      let left = values(list).filter { Self.text($0["id"]).map(used.contains) ?? false }
      members[list] = left.isEmpty ? nil : .array(left)
    }
    return try parsed(.object(members), catalog)
  }

  private func parsed(_ json: JSONValue, _ catalog: StageRegistry) throws -> Pipeline {
    try PipelineDocument.parseStored(Data(json.canonicalText.utf8), catalog: catalog)
  }

  private func values(_ key: String) -> [JSONValue] {
    if case .array(let values)? = json[key] { values } else { [] }
  }

  private static func text(_ value: JSONValue?) -> String? {
    if case .string(let text)? = value { text } else { nil }
  }

  /// The node of an edge's end, which may name a port: `split.left`.
  private static func node(_ value: JSONValue?) -> String {
    String((text(value) ?? "").prefix { $0 != "." })
  }
}
