import RetakeStore
import RetakeTimePlane

/// Rows of a live run, and of sensors, that are not yet in the database.
struct RunRows: Sendable {
  var runs: [RunRecord] = []
  var nodes: [NodeRecord] = []
  var events: [ExternalEventRecord] = []
  var decisions: [DecisionRecord] = []
  var spans: [SpanRecord] = []
  var results: [ResultRecord] = []
  var sensors: [SensorRecord] = []
  var samples: [SampleRecord] = []

  var count: Int {
    runs.count + nodes.count + events.count + decisions.count + spans.count
      + results.count + sensors.count + samples.count
  }

  mutating func append(_ other: RunRows) {
    runs += other.runs
    nodes += other.nodes
    events += other.events
    decisions += other.decisions
    spans += other.spans
    results += other.results
    sensors += other.sensors
    samples += other.samples
  }

  /// The run's row and nodes under this number; `nil` for rows of events, decisions and results.
  func compared(as number: Int) -> RunRows? {
    guard !runs.isEmpty else { return nil }
    var rows = RunRows()
    rows.runs = runs.map { run in
      var run = run
      (run.run, run.kind) = (number, RunRecord.comparedKind)
      return run
    }
    rows.nodes = nodes.map { node in
      var node = node
      node.run = number
      return node
    }
    return rows
  }

  func append(to store: StoreWriter) {
    store.append(runs)
    store.append(nodes)
    store.append(events)
    store.append(decisions)
    store.append(spans)
    store.append(results)
    store.append(sensors)
    store.append(samples)
  }
}

extension SpanRecord {
  init(run: Int, _ span: CostSpan) {
    self.init(
      run: run, node: span.node, track: span.frame.track, sequence: span.frame.sequence,
      item: span.item, readyNanoseconds: span.readyNanoseconds,
      startNanoseconds: span.startNanoseconds, endNanoseconds: span.endNanoseconds,
      cpuNanoseconds: span.processorNanoseconds, executor: span.executor, outcome: span.outcome)
  }
}
