import RetakeCore
import RetakeGraph

/// Writes live results as the JSON lines that a session keeps: one a frame and sink, with the
/// quanta that the pipeline declares. The same values give the same lines.
package struct LiveResultLines: ~Copyable {
  package struct Line: Hashable, Sendable {
    package var sink: String
    /// Without a line end.
    package var text: String
  }

  private var writers: [(sink: String, writer: SinkWriter)] = []

  /// - Throws: `ResultTextError` for a quantum that is none.
  package init(_ pipeline: Pipeline) throws(ResultTextError) {
    for node in pipeline.nodes where node.stage.signature.role == .sink {
      let quantisation = try Quantisation(
        box: node.quantum["box"], score: node.quantum["score"], scalar: node.quantum["scalar"])
      writers.append(
        (node.id, SinkWriter(sink: ResultHeader.Sink(node.id, quantisation: quantisation))))
    }
  }

  /// One line for each outcome, in their order.
  package func lines(of result: LiveResult) -> [Line] {
    result.frame.result.outcomes.compactMap { outcome in
      guard let writer = writers.first(where: { $0.sink == outcome.sink })?.writer else {
        return nil
      }
      return Line(sink: outcome.sink, text: writer.line(of: result))
    }
  }
}

/// Keeps the memory that one sink's lines are written in.
private final class SinkWriter {
  private var writer: ResultJSON

  init(sink: ResultHeader.Sink) {
    writer = ResultJSON(sinks: [sink])
  }

  func line(of result: LiveResult) -> String {
    let line = writer.line(
      of: ResultJSON.Frame(
        result.frame.result, arrivalNanoseconds: result.frame.arrivalNanoseconds,
        deliveries: result.deliveredNanoseconds, classNames: result.frame.classNames))
    return String(line.dropLast())
  }
}
