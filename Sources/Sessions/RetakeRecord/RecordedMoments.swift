import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeStore

/// The rows of a recording that keeps moments: frames, results of both pipelines, and events. Only
/// the writer's thread uses it.
struct RecordedMoments {
  private(set) var ring: MomentRing
  /// By pipeline.
  private let pipelines: [(rows: ResultRows, name: String, digest: Digest128)]
  /// Number of stored results, by pipeline.
  private var resultCounts = [0, 0]

  /// - Throws: `ResultTextError` for a precision that cannot be used.
  init(_ pipelines: [Pipeline], ring: MomentRing) throws {
    self.ring = ring
    self.pipelines = try pipelines.map { (try ResultRows($0), $0.name, $0.digest) }
  }

  mutating func add(_ row: RecordedRow) -> [RecordedRow] { rows(of: ring.add(row)) }

  /// From now on all frames are kept.
  mutating func keepAll() -> [RecordedRow] { rows(of: ring.keepAll()) }

  private mutating func rows(of outputs: [MomentRing.Output]) -> [RecordedRow] {
    outputs.map { output in
      switch output {
      case .row(let row): row
      case .results(let results, let sequence): .run(self.rows(of: results, sequence))
      case .moment(let moment, let sequence): .event(event(of: moment, sequence))
      }
    }
  }

  private mutating func rows(of results: [LiveResult?], _ sequence: Int) -> RunRows {
    var rows = RunRows()
    for (run, result) in results.enumerated() {
      guard var result else { continue }
      // As the session numbers the frame.
      result.frame.result.id.sequence = sequence
      for line in pipelines[run].rows.lines(of: result) {
        rows.results.append(
          ResultRecord(run: run, ordinal: resultCounts[run], sink: line.sink, line: line.text))
        resultCounts[run] += 1
      }
    }
    ring.noteResults(resultCounts)
    return rows
  }

  private func event(
    of moment: DisagreementStateMachine.Moment, _ sequence: Int
  ) -> EventRecord {
    let counts = ring.counts
    let json = JSONValue.object([
      "compared": .integer(Int64(counts.compared)),
      "disagreeing": .integer(Int64(counts.disagreeing)),
      "disagreement": .number(moment.largest),
      "frame": .string("\(FrameID(track: 0, sequence: sequence))"),
      "notCompared": .integer(Int64(counts.notCompared)),
      "pipelines": .array(
        pipelines.map {
          .object(["digest": .string("\($0.digest)"), "name": .string($0.name)])
        }),
    ])
    return EventRecord(
      ordinal: 0, timeNanoseconds: moment.first.arrival, track: 0, source: "recorder",
      kind: "pipelines.disagreed", json: json.canonicalText)
  }
}
