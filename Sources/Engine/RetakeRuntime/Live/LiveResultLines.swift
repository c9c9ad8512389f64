import RetakeCore
package import RetakeGraph

/// Writes live results as the JSON lines that a session stores: one line for each frame and sink,
/// with the steps that the pipeline declares. Equal values have equal lines.
package struct LiveResultLines: ~Copyable {
  package struct Line: Hashable, Sendable {
    package var sink: String
    /// Without a line end.
    package var text: String
  }

  private var writers: [(sink: String, writer: SinkWriter)] = []

  /// - Throws: `ResultTextError` for a precision that cannot be used.
  package init(_ pipeline: Pipeline) throws {
    writers = try pipeline.resultSinks().map { ($0.path, SinkWriter(sink: $0)) }
  }

  /// One line for each outcome, in order.
  package func lines(of result: LiveResult) -> [Line] {
    result.frame.result.outcomes.compactMap { outcome in
      guard let writer = writers.first(where: { $0.sink == outcome.sink })?.writer else {
        return nil
      }
      return Line(sink: outcome.sink, text: writer.line(of: result))
    }
  }
}

/// Writes live results as the lines that `--follow` and `--metadata` output: one line for each
/// frame, with the messages of failed stages.
package struct LiveFrameLines: ~Copyable {
  private var writer: ResultJSON

  /// - Parameter sink: The sink whose outcomes are written; `nil` = all.
  /// - Throws: `ResultTextError` for a precision that cannot be used.
  package init(_ pipeline: Pipeline, sink: String? = nil) throws {
    writer = ResultJSON(sinks: try pipeline.resultSinks().filter { sink == nil || $0.path == sink })
  }

  /// The line of the frame, with its line end.
  package mutating func line(of result: LiveResult) -> String {
    writer.line(of: ResultJSON.Frame(result, failures: result.frame.failures))
  }
}

/// Keeps the memory for one sink's lines.
private final class SinkWriter {
  private var writer: ResultJSON

  init(sink: ResultHeader.Sink) {
    writer = ResultJSON(sinks: [sink])
  }

  func line(of result: LiveResult) -> String {
    // Messages may differ between runs, and the lines of a reproduced run are compared with these.
    let line = writer.line(of: ResultJSON.Frame(result, failures: []))
    return String(line.dropLast())
  }
}

extension ResultJSON.Frame {
  fileprivate init(_ result: LiveResult, failures: [StageFailure]) {
    self.init(
      result.frame.result, arrivalNanoseconds: result.frame.arrivalNanoseconds,
      deliveries: result.deliveredNanoseconds, classNames: result.frame.classNames,
      failures: failures)
  }
}

extension Pipeline {
  /// The pipeline's sinks, with the steps that they declare.
  fileprivate func resultSinks() throws -> [ResultHeader.Sink] {
    var sinks: [ResultHeader.Sink] = []
    for node in nodes where node.stage.signature.role == .sink {
      let precision = try Precision(
        box: node.precision["box"], score: node.precision["score"], scalar: node.precision["scalar"]
      )
      sinks.append(ResultHeader.Sink(node.id, precision: precision))
    }
    return sinks
  }
}
