import RetakeCore
import RetakeRuntime
import RetakeStore

/// Keeps the last seconds of a recording in memory, and the moments at which two pipelines disagree.
///
/// A frame stays in the ring until all frames up to it are compared, so which frames are kept does
/// not depend on the speed of the pipelines. The kept frames are numbered from 0 without gaps.
struct MomentRing {
  enum Output: Sendable {
    case row(RecordedRow)
    /// - Parameter sequence: The frame's number in the session.
    case results([LiveResult?], sequence: Int)
    case moment(DisagreementStateMachine.Moment, sequence: Int)
  }

  private var ring: PreTriggerRing
  private var decisions: DisagreementStateMachine
  /// Frames up to this arrival are kept.
  private var keptThrough: Int64?
  /// The rows of the runs, until the first moment.
  private var runs: [RecordedRow] = []
  /// Results of frames in the ring, by the source's sequence.
  private var waiting: [Int: [LiveResult?]] = [:]
  /// Frames that were kept before they were compared: their numbers, by the source's sequence.
  private var open: [Int: Int] = [:]
  private var lastCompared = -1
  /// Frames before have left the ring.
  private var firstSequence = 0
  private var nextSequence = 0
  /// In the session.
  private var nextNumber = 0
  /// Added to the number of the encoder's epoch, so that a moment after a gap begins a segment.
  private var epochs = 0

  /// The reason of a segment that begins with a moment.
  static let segmentReason = "moment"

  init(_ ring: PreTriggerRing, _ trigger: DisagreementTrigger) {
    self.ring = ring
    decisions = DisagreementStateMachine(trigger)
  }

  var counts: ShadowProgress { decisions.counts }
  var hasKept: Bool { nextNumber > 0 }
  var passedFrames: Int { ring.passedFrames }
  var frameCount: Int { ring.frameCount }
  var isShort: Bool { ring.isShort }

  /// Returns the rows that have to be written now.
  mutating func add(_ row: RecordedRow) -> [Output] {
    switch row {
    case .run:
      guard !hasKept else { return [.row(row)] }
      runs.append(row)
      return []
    case .compared(let frame): return compare(frame)
    case .event, .frame:
      ring.append(row)
      if case .frame(let record, _) = row { nextSequence = record.sequence + 1 }
      defer { trim() }
      return taken()
    }
  }

  /// From now on all frames are kept.
  mutating func keepAll() -> [Output] {
    guard keptThrough != .max else { return [] }
    keptThrough = .max
    return taken()
  }

  mutating func noteResults(_ results: [Int]) { decisions.noteResults(results) }

  private mutating func compare(_ frame: ComparedFrame) -> [Output] {
    var outputs: [Output] = []
    lastCompared = frame.sequence
    if let number = open.removeValue(forKey: frame.sequence) {
      outputs.append(.results(frame.results, sequence: number))
    } else if frame.sequence >= firstSequence {
      waiting[frame.sequence] = frame.results
    }
    let moment = decisions.compare(
      frame.sequence, arrival: frame.arrivalNanoseconds, measure: frame.disagreement)
    guard let moment else {
      trim()
      return outputs
    }
    ring.trim(reachingBackFrom: moment.first.arrival)
    forgetPassed()
    keptThrough = max(keptThrough ?? .min, decisions.end(of: moment))
    let (hadGap, next) = (ring.hasGap, nextNumber)
    outputs += taken()
    // The kept frames and the rest of the ring follow each other without a gap.
    var number = nextNumber + moment.first.sequence - oldestSequence
    // If the first frame left for lack of memory, the moment begins with the oldest frame.
    if hadGap { number = max(number, next) }
    decisions.note(moment, at: FrameID(track: 0, sequence: number))
    return outputs + [.moment(moment, sequence: number)]
  }

  /// Of the oldest frame in the ring, or of the next one.
  private var oldestSequence: Int { ring.firstFrame?.sequence ?? nextSequence }

  private mutating func trim() {
    ring.trim(reachingBackFrom: decisions.reach)
    forgetPassed()
  }

  /// Removes the results of frames that are no longer in the ring.
  private mutating func forgetPassed() {
    let oldest = oldestSequence
    while firstSequence < oldest {
      waiting[firstSequence] = nil
      firstSequence += 1
    }
  }

  private mutating func taken() -> [Output] {
    guard let keptThrough else { return [] }
    var hasGap = ring.hasGap
    let rows = ring.take(through: keptThrough)
    guard !rows.isEmpty else { return [] }
    var outputs = runs.map(Output.row)
    runs = []
    for row in rows {
      guard case .frame(let record, let encoded) = row else {
        outputs.append(.row(row))
        continue
      }
      outputs.append(.row(numbered(record, encoded, afterGap: hasGap)))
      hasGap = false
      if let results = waiting.removeValue(forKey: record.sequence) {
        outputs.append(.results(results, sequence: nextNumber - 1))
      } else if record.sequence > lastCompared {
        open[record.sequence] = nextNumber - 1
      }
    }
    forgetPassed()
    return outputs
  }

  private mutating func numbered(
    _ record: FrameRecord, _ encoded: EncodedFrame?, afterGap: Bool
  ) -> RecordedRow {
    var (record, encoded) = (record, encoded)
    if afterGap, hasKept {
      epochs += 1
      encoded?.epoch.shape = Self.segmentReason
    }
    encoded?.epoch.number += epochs
    record.sequence = nextNumber
    nextNumber += 1
    return .frame(record, encoded)
  }
}
