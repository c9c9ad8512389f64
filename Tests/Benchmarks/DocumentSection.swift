import Foundation
import Retake
import RetakeCore
import RetakeGraph
import RetakeStages

/// Pipeline documents that are as large or as complex as the reader accepts. Measures the longest
/// time until a document is a pipeline or a typed error.
struct DocumentSection {
  let scale: Scale

  func run() throws -> SectionReport {
    let documents = HostileDocuments(nodes: scale.count(4_096, tiny: 64)).all
    let catalog = StageRegistry.builtIn
    let contest = try Contest(
      rounds: scale.rounds,
      documents.map { document in
        { Self.outcome(of: document.data, catalog: catalog) }
      })
    for (document, outcome) in zip(documents, contest.hashes) where outcome != document.outcome {
      throw WrongOutcome(name: document.name, wanted: document.outcome, got: outcome)
    }
    return SectionReport(
      name: "document",
      title: "Pipeline documents at the reader's limits: each is read or refused",
      figures: zip(documents, contest.bestSeconds).map { document, seconds in
        Figure(name: "document.\(document.name)", value: seconds * 1_000, unit: "ms")
      } + [
        Figure(
          name: "document.slowest", value: (contest.bestSeconds.max() ?? 0) * 1_000, unit: "ms")
      ],
      hash: contest.hash)
  }

  /// The code of the error, or the number of nodes.
  private static func outcome(of data: Data, catalog: StageRegistry) -> String {
    do {
      return try PipelineDocument.parse(data, catalog: catalog).nodes.count.description
    } catch {
      return error.facts.code
    }
  }

  struct WrongOutcome: Error, CustomStringConvertible {
    var name: String
    var wanted: String
    var got: String
    var description: String { "the document '\(name)' gives \(got), not \(wanted)" }
  }
}

/// Documents whose cost grows with the square of their size, or doubles with each node, in a
/// careless reader.
private struct HostileDocuments {
  struct Item {
    var name: String
    var data: Data
    /// The number of nodes, or the code of the error.
    var outcome: String
  }

  /// The number of nodes of the longest documents, including source and sink.
  let nodes: Int

  var all: [Item] {
    [
      Item(name: "line", data: line(end: "out"), outcome: "\(nodes)"),
      Item(name: "cycle", data: line(end: "n0"), outcome: "graph.pipeline.cycle"),
      Item(name: "misspelt", data: star(misspelt: true), outcome: "graph.pipeline.unknownNode"),
      Item(name: "star", data: star(misspelt: false), outcome: "\(nodes - 1)"),
      Item(name: "joins", data: joins(nodes / 3), outcome: "graph.pipeline.tooLarge"),
      Item(
        name: "escapes",
        data: Data(#"{"v": 1, "name": "\#(repeated("\\n"))", "nodes": 0}"#.utf8),
        outcome: "graph.pipeline.wrongValue"),
      Item(
        name: "key", data: Data(#"{"v": 1, "\#(repeated("kk"))": 0}"#.utf8),
        outcome: "graph.pipeline.unknownKey"),
    ]
  }

  /// Close to 2 MB at full size.
  private func repeated(_ pair: String) -> String { String(repeating: pair, count: nodes * 240) }

  private func line(end: String) -> Data {
    let stages = nodes - 2
    return document(
      nodes: [node("camera", "session"), node("out", "results")]
        + (0..<stages).map { node("n\($0)", "grey") },
      edges: [edge("camera", "n0"), edge("n\(stages - 1)", end)]
        + (1..<stages).map { edge("n\($0 - 1)", "n\($0)") })
  }

  private func star(misspelt: Bool) -> Data {
    let name = String(repeating: "x", count: 58)
    let names = (0..<nodes - 2).map { "\(name)\(1_000 + $0)" }
    return document(
      nodes: [node("camera", "session")] + names.map { node($0, "results") },
      edges: names.map { edge("camera", $0) } + (misspelt ? [edge("camera", "\(name)x1")] : []))
  }

  /// Each join doubles the values of the previous one.
  private func joins(_ depth: Int) -> Data {
    var edges = [edge("j\(depth - 1)", "out")]
    for index in 0..<depth {
      let from = index == 0 ? "camera" : "j\(index - 1)"
      edges += [edge(from, "j\(index).left"), edge(from, "j\(index).right")]
    }
    return document(
      nodes: [node("camera", "session"), node("out", "results")]
        + (0..<depth).map { node("j\($0)", "join", options: #"{"ports": ["left", "right"]}"#) },
      edges: edges)
  }

  private func node(_ id: String, _ kind: String, options: String = "{}") -> String {
    #"{"id": "\#(id)", "kind": "\#(kind)", "options": \#(options)}"#
  }

  private func edge(_ from: String, _ to: String) -> String {
    #"{"from": "\#(from)", "to": "\#(to)"}"#
  }

  private func document(nodes: [String], edges: [String]) -> Data {
    Data(
      #"{"v": 1, "nodes": [\#(nodes.joined(separator: ","))], "#
        .appending(#""edges": [\#(edges.joined(separator: ","))]}"#).utf8)
  }
}
