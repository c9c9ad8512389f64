import RetakeCore
import RetakeGolden
import RetakeReport
import RetakeSession

/// The marks of a case's timelines that are not findings: the fate of the frames in both runs,
/// heat, throttling and pools.
struct CaseTimelines {
  /// The most marks of one timeline.
  private static let marksMax = 2_000
  /// Fates by the kind of the decision, in the order of the lanes.
  private static let fates: [(DecisionKind, String)] = [
    (.drop, "dropped"), (.fail, "failed"), (.supersede, "replaced"), (.thin, "throttled"),
    (.lost, "lost"),
  ]
  /// Decisions about a node instead of a frame that are shown as marks, with their lane.
  private static let lanes: [DecisionKind: String] = [
    .throttle: "throttle", .thermal: "thermal", .resize: "pool", .breaker: "pool", .swap: "swap",
    .swapPrepare: "swap", .swapRefused: "swap", .halt: "halt", .stuck: "halt",
  ]

  /// The lines of one run that the timelines need.
  private struct Side {
    var origin: Int64 = 0
    /// Fate and frame.
    var endings: [(fate: String, frame: FrameID)] = []
    var marks: [DecisionLine] = []

    init(_ folder: GoldenFolder) {
      let fates = Dictionary(uniqueKeysWithValues: CaseTimelines.fates)
      var (endings, marks) = (endings, marks)
      let origin = try? folder.eachDecision { line in
        // The end of an item is not the end of its frame.
        if let fate = fates[line.kind], let frame = line.frame, line.item == nil {
          endings.append((fate, frame))
        } else if CaseTimelines.lanes[line.kind] != nil, marks.count < CaseTimelines.marksMax {
          // Bounded while the lines are read: a long run may have any number of them.
          marks.append(line)
        }
      }
      (self.origin, self.endings, self.marks) = (origin ?? 0, endings, marks)
    }
  }

  private let result: CaseResult
  private let golden: Side
  private let actual: Side

  init(_ result: CaseResult) {
    self.result = result
    golden = Side(result.golden)
    actual = Side(result.actual)
  }

  func fill(_ timelines: inout [ReportTimeline]) {
    let reader = result.openSession()
    for place in timelines.indices { fill(&timelines[place], reader) }
  }

  private func fill(_ line: inout ReportTimeline, _ reader: SessionReader?) {
    let bins = line.bins
    for (_, name) in Self.fates {
      let lane = TimelineLane(
        name, golden: counts(name, golden, line, bins), actual: counts(name, actual, line, bins))
      if (lane.golden + lane.actual).contains(where: { $0 > 0 }) { line.lanes.append(lane) }
    }
    // `retake diff` opens no session, and without arrivals no mark has a place.
    guard let times = TimelineTimes(reader, track: line.track) else { return }
    line.startNanoseconds = times.first
    line.endNanoseconds = times.last
    line.marks = Array(
      marks(times, reader).sorted { $0.sequence < $1.sequence }.prefix(Self.marksMax))
  }

  private func counts(
    _ name: String, _ side: Side, _ line: ReportTimeline, _ bins: Int
  ) -> [Int] {
    var counts = Array(repeating: 0, count: bins)
    for ending in side.endings where ending.fate == name && ending.frame.track == line.track {
      let bin = (ending.frame.sequence - line.firstSequence) / line.framesPerBin
      if counts.indices.contains(bin) { counts[bin] += 1 }
    }
    return counts
  }

  // MARK: - Marks

  private func marks(_ times: TimelineTimes, _ reader: SessionReader?) -> [TimelineMark] {
    let events = (try? reader?.deviceEvents()) ?? []
    let device = events.prefix(Self.marksMax).map { timed in
      TimelineMark(
        timed.event.kind.rawValue, .both, sequence: times.frame(at: timed.timestamp.nanoseconds),
        text: timed.event.reportText)
    }
    let shared = Set(golden.marks).intersection(actual.marks)
    func marks(_ side: Side, _ which: ReportBox.Side) -> [TimelineMark] {
      side.marks.filter { !shared.contains($0) }.map { mark($0, which, side.origin, times) }
    }
    let both = golden.marks.filter { shared.contains($0) }
      .map { mark($0, .both, golden.origin, times) }
    return device + both + marks(golden, .golden) + marks(actual, .actual)
  }

  private func mark(
    _ line: DecisionLine, _ side: ReportBox.Side, _ origin: Int64, _ times: TimelineTimes
  ) -> TimelineMark {
    let details = line.details.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    return TimelineMark(
      Self.lanes[line.kind] ?? line.kind.rawValue, side,
      sequence: times.frame(at: line.time + origin),
      text: "\(line.kind.rawValue) at \(line.node)" + (details.isEmpty ? "" : " \(details)"))
  }
}

/// When the frames of a track arrived, to find the frame at a given time.
private struct TimelineTimes {
  /// Sorted by arrival.
  private let arrivals: [(time: Int64, sequence: Int)]
  let first: Int64
  let last: Int64

  /// `nil` for a track without frames.
  init?(_ reader: SessionReader?, track: Int) {
    guard let reader, let found = reader.tracks.first(where: { $0.track == track }),
      let entries = try? reader.entries(of: track, sequences: 0..<found.frameCount),
      let one = entries.first, let end = entries.last
    else { return nil }
    // By arrival, because the order of arrival may differ from the order of the sequences.
    arrivals = entries.map { ($0.arrival.nanoseconds, $0.id.sequence) }.sorted { $0 < $1 }
    (first, last) = (one.timestamp.nanoseconds, end.timestamp.nanoseconds)
  }

  /// The last frame that had arrived by a time; before the first arrival, the first frame.
  func frame(at time: Int64) -> Int {
    var (low, high) = (0, arrivals.count)
    // Binary search: each round halves the range.
    while low < high {
      let middle = (low + high) / 2
      if arrivals[middle].time <= time { low = middle + 1 } else { high = middle }
    }
    return arrivals[max(0, low - 1)].sequence
  }
}

extension DeviceEvent {
  fileprivate var reportText: String {
    switch self {
    case .thermal(let state): state.rawValue
    case .temperature(let reading): "\(reading.celsius) °C"
    case .memory(let pressure): pressure.rawValue
    case .battery(let state): "\(state.level) %\(state.isLowPower ? ", saving power" : "")"
    case .orientation(let orientation): orientation.rawValue
    }
  }
}
