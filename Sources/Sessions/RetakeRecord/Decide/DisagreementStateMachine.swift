import RetakeCore

/// Decides from the compared frames, in their order, which moments are kept.
struct DisagreementStateMachine {
  /// A frame at which the pipelines disagree.
  struct Disagreement: Hashable, Sendable {
    var sequence: Int
    var arrival: Int64
    var measure: Double
  }

  /// The frame that begins a moment.
  struct Moment: Hashable, Sendable {
    var first: Disagreement
    /// The largest measure of the frames that caused the moment.
    var largest: Double
  }

  private let trigger: DisagreementTrigger
  /// The last frames in a row that disagree, at most `trigger.frames`.
  private var row: [Disagreement] = []
  private var latest: Int64?
  /// The end of the last moment. Its own frames are not counted as frames of the cooldown.
  private var endNanoseconds = Int64.min
  /// A moment begins later than this.
  private var readyNanoseconds = Int64.min
  private(set) var counts = ShadowProgress()

  /// A row of disagreeing frames ends after this time without another one.
  private static let rowNanosecondsMax: Int64 = 10_000_000_000

  init(_ trigger: DisagreementTrigger) {
    self.trigger = trigger
  }

  /// A moment that begins later needs no frame that is older than the ring's time before this one.
  var reach: Int64? { row.first?.arrival ?? latest }

  /// - Parameter measure: `nil` if a pipeline has no result for the frame; such a frame neither
  ///   continues nor ends a row.
  mutating func compare(_ sequence: Int, arrival: Int64, measure: Double?) -> Moment? {
    latest = arrival
    if let last = row.last, arrival - last.arrival > Self.rowNanosecondsMax { row = [] }
    guard let measure else {
      counts.notCompared += 1
      return nil
    }
    counts.compared += 1
    guard measure >= trigger.least else {
      row = []
      return nil
    }
    counts.disagreeing += 1
    row.append(Disagreement(sequence: sequence, arrival: arrival, measure: measure))
    if row.count > trigger.frames { row.removeFirst() }
    guard row.count == trigger.frames else { return nil }
    guard row[0].arrival > readyNanoseconds else {
      if row[0].arrival > endNanoseconds { counts.withinCooldown += 1 }
      return nil
    }
    return begin()
  }

  private mutating func begin() -> Moment {
    defer { row = [] }
    let moment = Moment(first: row[0], largest: row.map(\.measure).max() ?? 0)
    endNanoseconds = end(of: moment)
    readyNanoseconds = endNanoseconds + trigger.cooldown.nanoseconds
    return moment
  }

  /// Frames that arrive later do not belong to the moment.
  func end(of moment: Moment) -> Int64 { moment.first.arrival + trigger.after.nanoseconds }

  /// - Parameter frame: The first frame of the moment, as the session numbers it.
  mutating func note(_ moment: Moment, at frame: FrameID) {
    counts.momentCount += 1
    guard counts.moments.count < ShadowProgress.momentsMax else { return }
    counts.moments.append(
      ShadowProgress.Moment(frame: frame, disagreement: moment.largest, frames: trigger.frames))
  }

  /// - Parameter results: Number of results that were stored, by pipeline.
  mutating func noteResults(_ results: [Int]) { counts.results = results }
}
