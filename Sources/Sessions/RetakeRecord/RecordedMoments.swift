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
  /// The events of halts until something is kept.
  private var halts: [EventRecord] = []

  /// - Throws: `ResultTextError` for a precision that cannot be used.
  init(_ pipelines: [Pipeline], ring: MomentRing) throws {
    self.ring = ring
    self.pipelines = try pipelines.map { (try ResultRows($0), $0.name, $0.digest) }
  }

  mutating func add(_ row: RecordedRow) -> [RecordedRow] {
    if case .compared(let frame) = row { noteHalts(frame) }
    return rows(of: ring.add(row))
  }

  /// From now on all frames are kept.
  mutating func keepAll() -> [RecordedRow] { rows(of: ring.keepAll()) }

  /// Not through the ring, which the event would leave with the frames of its time.
  private mutating func noteHalts(_ frame: ComparedFrame) {
    for (run, result) in frame.results.enumerated() {
      guard let halt = result?.frame.failures.first(where: { !$0.isRecoverable }) else { continue }
      let json = JSONValue.object([
        "code": .string(halt.code), "digest": .string("\(pipelines[run].digest)"),
        "message": .string(halt.message), "name": .string(pipelines[run].name),
        "node": .string(halt.node), "run": .integer(Int64(run)),
      ])
      halts.append(
        EventRecord(
          ordinal: 0, timeNanoseconds: frame.arrivalNanoseconds, source: "recorder",
          kind: "pipeline.halted", json: json.canonicalText))
    }
  }

  private mutating func rows(of outputs: [MomentRing.Output]) -> [RecordedRow] {
    let events = ring.hasKept ? halts.map(RecordedRow.event) : []
    if ring.hasKept { halts = [] }
    return outputs.map { output in
      switch output {
      case .row(let row): row
      case .results(let results, let sequence): .run(self.rows(of: results, sequence))
      case .moment(let moment, let sequence): .event(event(of: moment, sequence))
      }
    } + events
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
