public import Foundation
public import RetakeCore

/// The JSON document of a pipeline, version 1.
public enum PipelineDocument {
  /// The largest document that is read, in bytes.
  package static let bytesMax = 2 << 20

  /// Reads and validates a document.
  ///
  /// - Throws: `PipelineError` with the JSON pointer of the problem.
  public static func parse(
    _ data: Data, catalog: some StageCatalog, file: String? = nil
  ) throws -> Pipeline {
    try parse(data, catalog: catalog, file: file) { $0 }
  }

  /// Reads and validates a document that a program stored with a session or a golden, or that a
  /// revision of the project has. It may have keys from before they were renamed.
  ///
  /// - Throws: As `parse(_:catalog:file:)`.
  package static func parseStored(
    _ data: Data, catalog: some StageCatalog, file: String? = nil
  ) throws -> Pipeline {
    try parse(data, catalog: catalog, file: file) { PipelineRecord.withCurrentKeys($0) }
  }

  private static func parse(
    _ data: Data, catalog: some StageCatalog, file: String?, _ change: (JSONValue) -> JSONValue
  ) throws -> Pipeline {
    do {
      let decoder = try PipelineDecoder(parsing: data, bytesMax: bytesMax)
      let pipeline = try DocumentReader(catalog: catalog).pipeline(
        PipelineDecoder(change(decoder.json), at: decoder.pointer))
      try pipeline.validate()
      return pipeline
    } catch let error as PipelineError {
      // The code that throws knows the place in the document; only this function knows the file.
      var located = error
      located.file = file
      throw located
    }
  }

  /// The document of a pipeline, in canonical form.
  ///
  /// - Throws: `PipelineError` if a node is a closure.
  public static func json(of pipeline: Pipeline) throws -> JSONValue {
    // Flat, so that closures in bodies are found.
    for node in pipeline.flattened().nodes where !node.stage.isExportable {
      throw pipeline.placing(
        PipelineError(
          .notExportable(node.id, node.stage.signature.role), at: node.pointer ?? "/nodes"))
    }
    return pipeline.json
  }
}

extension Pipeline {
  /// The canonical document. Nodes that are closures have their ID as kind.
  package var json: JSONValue {
    var members: [String: JSONValue] = [
      "v": .integer(1), "name": .string(name),
      "nodes": .array(nodes.map(\.json)), "edges": .array(edges.map(\.json)),
    ]
    if !executors.isEmpty {
      members["executors"] = .array(
        executors.map { .object(["id": .string($0.id), "count": .integer(Int64($0.count))]) })
    }
    if !pools.isEmpty { members["pools"] = .array(pools.map(\.json)) }
    return .object(members)
  }

  /// XXH3-128 of the canonical document without names and costs. It covers the pipeline's values
  /// and decisions, not their duration.
  public var digest: Digest128 { PipelineRecord(self).digest }
}

extension PipelineNode {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = ["id": .string(id), "kind": .string(kind)]
    if case .object(let options) = stage.options, !options.isEmpty {
      members["options"] = stage.options
    }
    if let cost { members["cost"] = cost.json(perFrame: costPerFrame) }
    if let batch { members["batch"] = batch.json }
    if let executor { members["executor"] = .string(executor) }
    if isPrimary { members["primary"] = .bool(true) }
    if !precision.isEmpty { members["precision"] = .object(precision.mapValues { .number($0) }) }
    if concurrency != 1 { members["concurrency"] = .integer(Int64(concurrency)) }
    if isPinned { members["pinned"] = .bool(true) }
    if let fallback { members["fallback"] = .string(fallback.rawValue) }
    if let timeout { members["timeout"] = .string(timeout.unitText) }
    if let pool { members["pool"] = .string(pool) }
    if let hold { members["hold"] = .string(hold.unitText) }
    if let body { members["body"] = body.json }
    return .object(members)
  }
}

extension PipelineBody {
  fileprivate var json: JSONValue {
    .object([
      "nodes": .array(nodes.map(\.json)), "edges": .array(edges.map(\.json)),
      "output": .string(output),
    ])
  }
}

extension PipelinePool {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [
      "id": .string(id), "capacity": .integer(Int64(capacity)),
    ]
    if policy != .block { members["policy"] = .string(policy.rawValue) }
    if let adaptive { members["adaptive"] = adaptive.json }
    if let wait { members["wait"] = .string(wait.unitText) }
    if driverFrames != 0 { members["driverFrames"] = .integer(Int64(driverFrames)) }
    if isPreallocated { members["preallocate"] = .bool(true) }
    return .object(members)
  }
}

extension PipelineEdge {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [
      "from": .string(from + (fromPort.map { ".\($0)" } ?? "")),
      "to": .string(to + (toPort.map { ".\($0)" } ?? "")),
    ]
    // The canonical form leaves out a key that has its default, and the digest covers that form.
    if capacity != Self.defaultCapacity { members["capacity"] = .integer(Int64(capacity)) }
    if policy != .block { members["policy"] = .string(policy.rawValue) }
    return .object(members)
  }
}

extension Cost {
  /// The form in a document: `{"fixed": "45ms"}`.
  package var json: JSONValue {
    switch self {
    case .fixed(let value): .object(["fixed": .string(value.unitText)])
    case .uniform(let low, let high):
      .object(["uniform": .array([.string(low.unitText), .string(high.unitText)])])
    case .quantiles(let p50, let p99):
      .object(["p50": .string(p50.unitText), "p99": .string(p99.unitText)])
    }
  }

  /// The same with the cost of each frame of a batch: `{"fixed": "8ms", "perFrame": "1ms"}`.
  package func json(perFrame: Duration?) -> JSONValue {
    guard let perFrame, case .object(var members) = json else { return json }
    members["perFrame"] = .string(perFrame.unitText)
    return .object(members)
  }
}
