import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeStore

/// Turns a live run's inputs and decisions into rows. Rows are never shed.
final class RunTap: LiveTap {
  /// A recorded session contains one run.
  private static let run = 0

  private struct State: Sendable {
    var nodeIDs: [String] = []
    var decisions = 0
    var results = 0
    var drops = DropCounts()
  }

  private let add: @Sendable (RunRows) -> Void
  private let state = Locked(State())
  private let writer: ResultRows
  private let hasExactPixels: Bool
  private let watch: RecordingWatch?

  /// - Parameters:
  ///   - hasExactPixels: Whether the stored frames have exactly the pixels that the pipeline sees.
  ///   - add: Receives rows, from two threads.
  init(
    _ pipeline: Pipeline, hasExactPixels: Bool, watch: RecordingWatch? = nil,
    add: @escaping @Sendable (RunRows) -> Void
  ) throws {
    self.hasExactPixels = hasExactPixels
    self.add = add
    self.watch = watch
    writer = try ResultRows(pipeline)
  }

  func began(_ facts: LiveFacts) {
    state.withLock { $0.nodeIDs = facts.nodeIDs }
    var rows = RunRows()
    rows.runs = [
      RunRecord(
        run: Self.run, kind: "live", pipeline: facts.pipelineText,
        startedNanoseconds: facts.startedNanoseconds, json: json(of: facts).canonicalText)
    ]
    rows.nodes = facts.nodes.map {
      NodeRecord(
        run: Self.run, node: $0.id, kind: $0.kind, version: "\($0.version)",
        options: $0.options.canonicalText)
    }
    add(rows)
  }

  func told(_ batch: LiveBatch) {
    let (nodes, first) = state.withLock { state -> ([String], Int) in
      defer { state.decisions += batch.decisions.count }
      state.drops.note(batch.decisions)
      return (state.nodeIDs, state.decisions)
    }
    var rows = RunRows()
    rows.events = batch.events.map {
      ExternalEventRecord(
        run: Self.run, ordinal: $0.ordinal, timeNanoseconds: $0.nanoseconds,
        kind: $0.event.kind.rawValue, json: $0.json(nodes: nodes).canonicalText)
    }
    rows.decisions = batch.decisions.enumerated().map { index, line in
      DecisionRecord(run: Self.run, ordinal: first + index, line: "\(line)")
    }
    rows.spans = batch.spans.map { SpanRecord(run: Self.run, $0) }
    add(rows)
    if let watch, !batch.decisions.isEmpty { watch.decided(batch.decisions) }
  }

  func finished(_ result: LiveResult) {
    watch?.found(result)
    let lines = writer.lines(of: result)
    guard !lines.isEmpty else { return }
    let first = state.withLock { state -> Int in
      defer { state.results += lines.count }
      return state.results
    }
    var rows = RunRows()
    rows.results = lines.enumerated().map { index, line in
      ResultRecord(run: Self.run, ordinal: first + index, sink: line.sink, line: line.text)
    }
    add(rows)
  }

  func ended(_ outcome: RunOutcome) {}

  /// Number of result lines so far.
  var resultCount: Int { state.withLock { $0.results } }
  /// Drops of each stage so far.
  var drops: DropCounts { state.withLock { $0.drops } }

  private func json(of facts: LiveFacts) -> JSONValue {
    .object([
      "exactPixels": .bool(hasExactPixels),
      "name": .string(facts.pipeline.name),
      "originNanoseconds": .integer(facts.originNanoseconds),
      "tracks": .array(facts.tracks.map(\.json)),
      "workers": .integer(Int64(facts.workers)),
    ])
  }
}

extension LiveFacts {
  /// The canonical document; empty for a pipeline with closures, which has no document.
  fileprivate var pipelineText: String {
    guard let json = try? PipelineDocument.json(of: pipeline) else { return "" }
    return json.canonicalText
  }
}
