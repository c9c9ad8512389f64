package import RetakeBuffers
import RetakeCore

/// The content of a player: the frames of a track, and a run's results for them.
package struct PlayerContent: Sendable {
  struct Entry: Hashable, Sendable {
    var id: FrameID
    var timestamp: Int64
    /// Why it has no pixels; `nil` when it has.
    var damage: String?
  }

  /// The newest results that each sink had received by a frame.
  private struct Known: Sendable {
    var timestamp: Timestamp
    /// Has the id of the oldest frame that contributes to it.
    var result: PreviewResult
  }

  let reader: any FrameReader
  let name: String
  let description: TrackDescription
  let entries: [Entry]
  /// The indices of the frames in which a redaction may have missed an object, in ascending order.
  private(set) var uncertain: [Int] = []
  /// The newest results from each frame on, by increasing time stamp.
  private var results: [Known] = []
  var marks: DecisionMarks?
  /// The run's time zero on the session's time line.
  var originNanoseconds: Int64 = 0

  /// - Parameters:
  ///   - name: The name in the window's title.
  ///   - track: The first one if `nil`.
  /// - Throws: `PreviewError.noFrames`, and the errors of the reader.
  package init(_ reader: any FrameReader, name: String, track: Int? = nil) throws {
    let wanted = track ?? reader.tracks.first?.track ?? 0
    guard let description = reader.tracks.first(where: { $0.track == wanted }) else {
      throw PreviewError.noFrames(path: name, track: wanted)
    }
    let entries = try reader.entries(of: wanted, sequences: 0..<description.frameCount).map {
      Entry(
        id: $0.id, timestamp: $0.timestamp.nanoseconds,
        damage: $0.isPayloadMissing ? $0.damage ?? "shed" : $0.damage)
    }
    guard !entries.isEmpty else { throw PreviewError.noFrames(path: name, track: wanted) }
    (self.reader, self.name, self.description) = (reader, name, description)
    // Frames are sorted by time stamp, because the time stamps of a recording may go backwards.
    self.entries = entries.sorted { ($0.timestamp, $0.id) < ($1.timestamp, $1.id) }
  }

  /// Marks the frames that a person should look at, by their sequence numbers.
  package mutating func mark(uncertain sequences: [Int]) {
    let wanted = Set(sequences)
    uncertain = entries.indices.filter { wanted.contains(entries[$0].id.sequence) }
  }

  /// Adds a run's results for the track's frames.
  ///
  /// - Parameter originNanoseconds: The run's time zero on the session's time line.
  package mutating func add(
    results: [PreviewResult], marks: DecisionMarks, originNanoseconds: Int64
  ) {
    self.results = Self.known(
      of: results.sorted { ($0.timestamp, $0.id) < ($1.timestamp, $1.id) })
    self.marks = marks
    self.originNanoseconds = originNanoseconds
  }

  /// A sink that never received anything visible, such as a screen, is ignored. A sink that
  /// received an empty result for a frame shows no result.
  private static func known(of results: [PreviewResult]) -> [Known] {
    var seen: Set<String> = []
    for outcome in results.flatMap(\.outcomes) {
      if case .facts(let facts) = outcome.content, facts.contains(where: \.isSeen) {
        seen.insert(outcome.sink)
      }
    }
    struct Newest {
      var id: FrameID
      var timestamp: Timestamp
      var outcome: SinkOutcome
      var classNames: [String]
    }
    var newest: [String: Newest] = [:]
    return results.compactMap { result in
      var isNew = false
      for (place, outcome) in result.outcomes.enumerated() where seen.contains(outcome.sink) {
        guard case .facts = outcome.content else { continue }
        isNew = true
        newest[outcome.sink] = Newest(
          id: result.id, timestamp: result.timestamp, outcome: outcome,
          classNames: result.classNames.indices.contains(place) ? result.classNames[place] : [])
      }
      // Sorted, because the order of a Dictionary would change which result is on top.
      let all = newest.keys.sorted().compactMap { newest[$0] }
      guard isNew, let oldest = all.min(by: { ($0.timestamp, $0.id) < ($1.timestamp, $1.id) })
      else { return nil }
      return Known(
        timestamp: result.timestamp,
        result: PreviewResult(
          id: oldest.id, timestamp: oldest.timestamp, outcomes: all.map(\.outcome),
          classNames: all.map(\.classNames)))
    }
  }

  /// The sensors that are drawn under the frames: the first that have a curve.
  var sensors: [SensorTrack] {
    let sensors = reader.sensorReader?.sensors.filter { $0.sampleCount > 1 } ?? []
    return Array(sensors.prefix(SensorStrip.countMax))
  }

  package var frameCount: Int { entries.count }

  /// The index of the frame with this sequence number; `nil` if no frame has it.
  package func place(ofSequence sequence: Int) -> Int? {
    entries.firstIndex { $0.id.sequence == sequence }
  }

  /// The index of the frame that is shown at this time after the first frame; `nil` after the last
  /// frame.
  package func place(at duration: Duration) -> Int? {
    let time = entries[0].timestamp + duration.nanoseconds
    guard time <= entries[entries.count - 1].timestamp else { return nil }
    return entries.lastIndex { $0.timestamp <= time }
  }

  /// The description of the frames.
  package var track: TrackDescription { description }

  /// The last result of each sink, for a frame at or before this time.
  func result(at time: Int64) -> PreviewResult? {
    var (low, high) = (0, results.count)
    // Ends: the range halves.
    while low < high {
      let middle = (low + high) / 2
      if results[middle].timestamp.nanoseconds <= time { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? results[low - 1].result : nil
  }
}

extension ResultFact {
  /// Whether an overlay shows this fact.
  fileprivate var isSeen: Bool {
    switch self {
    case .detection, .classification, .scalar, .text, .waveform, .observation: true
    case .frame, .tensor, .user: false
    }
  }
}
