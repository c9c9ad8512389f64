import RetakeCore

/// Compares two streams of results: equal blocks by their digests, the others frame by frame.
package struct ResultComparator {
  package private(set) var counts = ComparisonCounts()
  package var log: FindingLog
  /// Frames with a finding about their fate; decisions about them say the same again.
  package private(set) var framesWithOtherFate: Set<FrameID> = []
  /// Dropped frames of the run by sink.
  package private(set) var dropped: [Int]

  private let golden: ResultHeader
  private let origin: Int64
  private let timeBases: [Int: TimeBase]
  /// The actual index of each golden sink.
  private let sinkPairs: [Int?]
  private let blocksAreComparable: Bool
  private var sinks: [FrameComparator]
  private var unmatched: [UnmatchedBoxes]
  private var aligner: FrameAligner
  private var gaps: [Int: Finding] = [:]

  /// - Parameters:
  ///   - origin: The virtual time's zero, in nanoseconds of presentation time.
  ///   - log: Holds the causes that are known by now.
  package init(
    golden: ResultHeader, actual: ResultHeader, rules: CompareRules, pairing: Pairing = .sequence,
    origin: Int64 = 0, log: FindingLog = FindingLog()
  ) {
    self.golden = golden
    self.origin = origin
    self.log = log
    timeBases = Dictionary(
      golden.tracks.map { ($0.index, $0.timeBase) }, uniquingKeysWith: { first, _ in first })
    sinkPairs = golden.sinks.map { actual.sinks.firstIndex(of: $0) }
    dropped = actual.sinks.map { _ in 0 }
    blocksAreComparable = golden.sinks == actual.sinks && golden.tracks == actual.tracks
    aligner = FrameAligner(pairing: pairing)
    sinks = golden.sinks.enumerated().map { index, sink in
      let partner = actual.sinks.firstIndex(of: sink)
      return FrameComparator(
        sink: sink, rule: rules.rule(for: sink), goldenClasses: golden.classes[index],
        actualClasses: partner.map { actual.classes[$0] } ?? [])
    }
    unmatched = sinks.map { UnmatchedBoxes(allowed: $0.rule.unmatchedMax) }
    noteSinks(actual)
  }

  private mutating func noteSinks(_ actual: ResultHeader) {
    for sink in golden.sinks where !actual.sinks.contains(sink) {
      log.add(Finding(.sinkRemoved, node: sink, message: "the sink \(sink) is gone"))
    }
    for sink in actual.sinks where !golden.sinks.contains(sink) {
      log.add(Finding(.sinkAdded, node: sink, message: "the sink \(sink) is new"))
    }
  }

  /// Compares the next file of each side; `nil` once a side has no more.
  package mutating func compare(
    golden: ResultChunk?, actual: ResultChunk?
  ) throws(ResultTextError) {
    let left = golden?.blocks ?? []
    let right = actual?.blocks ?? []
    noteClasses(golden?.header, actual?.header)
    for index in 0..<max(left.count, right.count) {
      let mine = index < left.count ? left[index] : nil
      let theirs = index < right.count ? right[index] : nil
      counts.facts += mine?.facts ?? 0
      for (sink, count) in (theirs?.dropped ?? []).enumerated() { dropped[sink] += count }
      if let mine, let theirs, blocksAreComparable, mine.digest == theirs.digest,
        aligner.isEmpty
      {
        counts.same += mine.frameCount
        if mine.facts > 0 {
          for index in sinks.indices { sinks[index].noteEqualFacts() }
        }
        continue
      }
      let goldenFrames = try mine.flatMap { block throws(ResultTextError) in
        try golden?.frames(of: block)
      }
      let actualFrames = try theirs.flatMap { block throws(ResultTextError) in
        try actual?.frames(of: block)
      }
      aligner.add(golden: goldenFrames ?? [], actual: actualFrames ?? [])
      for pair in aligner.take(atEnd: false) { compare(pair) }
    }
  }

  /// Compares what is left; findings about the run as a whole come now.
  package mutating func finish() -> [ErrorHeadroom] {
    for pair in aligner.take(atEnd: true) { compare(pair) }
    for track in gaps.keys.sorted() { closeGap(track) }
    var headroom: [ErrorHeadroom] = []
    for (index, sink) in sinks.enumerated() {
      headroom += sink.meter.headroom(sink: sink.sink)
      let boxes = unmatched[index]
      headroom.append(
        ErrorHeadroom(
          sink: sink.sink, quantity: "unmatched", largest: Double(boxes.count),
          allowed: Double(boxes.allowed), frame: boxes.first))
      headroom += judgeDrift(of: sink)
    }
    return headroom
  }

  private mutating func judgeDrift(of sink: FrameComparator) -> [ErrorHeadroom] {
    guard let drift = sink.meter.drift.largest(frames: counts.compared) else { return [] }
    let allowed = sink.rule.driftPer1000
    let frame = FrameID(track: golden.tracks.first?.index ?? 0, sequence: drift.sequence)
    // Half a quantum of the finest standard step is not yet a drift.
    let change = FixedDecimal(drift.change, decimals: 3).value
    if change > allowed {
      log.add(
        Finding(
          .drift, frame: frame, node: sink.sink, magnitude: change, allowed: allowed,
          message: "the mean error moved by \(change) from one thousand frames to the next"))
    }
    return [
      ErrorHeadroom(
        sink: sink.sink, quantity: "drift", largest: change, allowed: allowed, frame: frame)
    ]
  }

  private mutating func noteClasses(_ golden: ResultHeader?, _ actual: ResultHeader?) {
    guard let golden, let actual else { return }
    for (index, partner) in sinkPairs.enumerated() {
      guard let partner, golden.classes[index] != actual.classes[partner] else { continue }
      let sink = golden.sinks[index]
      let names = [golden.classes[index], actual.classes[partner]].map {
        $0.joined(separator: ", ")
      }
      let isKnown = log.findings.contains { $0.kind == .classesChanged && $0.node == sink }
      guard !isKnown else { continue }
      log.add(
        Finding(
          .classesChanged, node: sink, golden: names[0], actual: names[1],
          message: "the classes of \(sink) are \(names[1]) instead of \(names[0])"))
    }
  }

  private func time(of frame: ResultFrame) -> Int64? {
    guard let pts = frame.pts, let base = timeBases[frame.id.track],
      let time = Timestamp(pts: pts, timeBase: base)
    else { return nil }
    return time.nanoseconds - origin
  }

  private mutating func compare(_ pair: FrameAligner.Pair) {
    switch pair {
    case .both(let golden, let actual):
      closeGap(golden.id.track)
      compare(golden, actual)
    case .lost(let frame):
      counts.missing += 1
      extendGap(.frameLost, frame)
    case .inserted(let frame):
      counts.inserted += 1
      extendGap(.frameInserted, frame)
    }
  }

  /// Frames that are missing in a row are one finding.
  private mutating func extendGap(_ kind: Finding.Kind, _ frame: ResultFrame) {
    let track = frame.id.track
    framesWithOtherFate.insert(frame.id)
    if gaps[track]?.kind == kind {
      gaps[track]?.frameCount += 1
      return
    }
    closeGap(track)
    gaps[track] = Finding(kind, frame: frame.id, time: time(of: frame), message: "")
  }

  private mutating func closeGap(_ track: Int) {
    guard var gap = gaps.removeValue(forKey: track), let frame = gap.frame else { return }
    let last = frame.sequence + gap.frameCount - 1
    let frames =
      gap.frameCount == 1
      ? "frame \(frame) is" : "\(gap.frameCount) frames from \(frame) to about \(last) are"
    gap.message = frames + (gap.kind == .frameLost ? " missing" : " new")
    log.add(gap)
  }

  private mutating func compare(_ golden: ResultFrame, _ actual: ResultFrame) {
    if golden == actual && blocksAreComparable {
      for outcome in golden.outcomes { sinks[outcome.sink].noteEqual(outcome.lines) }
      counts.same += 1
      return
    }
    var findings = timeFindings(golden, actual)
    var isWithin = false
    var fates: [Finding] = []
    for outcome in golden.outcomes {
      guard let partner = sinkPairs[outcome.sink],
        let other = actual.outcomes.first(where: { $0.sink == partner })
      else { continue }
      if outcome.lines == other.lines {
        sinks[outcome.sink].noteEqual(outcome.lines)
        continue
      }
      if outcome.ended != nil || other.ended != nil {
        if let finding = fateFinding(golden, outcome, other) { fates.append(finding) }
        continue
      }
      let sink = outcome.sink
      let differences = sinks[sink].compare(
        golden: outcome.lines, actual: other.lines, frame: golden.id)
      isWithin = isWithin || differences.isEmpty
      for difference in differences {
        findings += admit(
          finding(difference, golden, sinks[sink].sink), sink: sink, within: &isWithin)
      }
    }
    findings += Self.merged(fates)
    if !fates.isEmpty { framesWithOtherFate.insert(golden.id) }
    for finding in findings { log.add(finding) }
    if !findings.isEmpty {
      counts.changed += 1
    } else if isWithin {
      counts.withinTolerance += 1
    } else {
      counts.same += 1
    }
  }

  private func timeFindings(_ golden: ResultFrame, _ actual: ResultFrame) -> [Finding] {
    guard golden.pts != actual.pts else { return [] }
    let times = [golden.pts, actual.pts].map { $0.map(String.init) ?? "-" }
    return [
      Finding(
        .timeChanged, frame: golden.id, time: time(of: golden), golden: times[0],
        actual: times[1], message: "the presentation time is \(times[1]) instead of \(times[0])")
    ]
  }

  private func finding(
    _ difference: FrameComparator.Difference, _ frame: ResultFrame, _ sink: String
  ) -> Finding {
    Finding(
      difference.kind, frame: frame.id, time: time(of: frame), node: sink,
      golden: difference.golden, actual: difference.actual, magnitude: difference.magnitude,
      allowed: difference.allowed, message: difference.message)
  }

  /// Boxes without a partner are findings only once there are more than the rule allows: then all.
  private mutating func admit(
    _ finding: Finding, sink: Int, within: inout Bool
  ) -> [Finding] {
    guard finding.kind == .boxAppeared || finding.kind == .boxDisappeared else { return [finding] }
    var findings = unmatched[sink].add(finding)
    if findings.isEmpty { within = true }
    // Those that were held back belong to frames that were counted as within tolerance.
    let earlier = findings.filter { $0.frame != finding.frame }
    if !earlier.isEmpty {
      let frames = Set(earlier.compactMap(\.frame)).count
      counts.withinTolerance -= min(frames, counts.withinTolerance)
      counts.changed += frames
      for finding in earlier { log.add(finding) }
      findings.removeAll { $0.frame != finding.frame }
    }
    return findings
  }

  private func fateFinding(
    _ frame: ResultFrame, _ golden: ResultFrame.Outcome, _ actual: ResultFrame.Outcome
  ) -> Finding? {
    func words(_ outcome: ResultFrame.Outcome) -> String {
      guard let (fate, node) = outcome.ended else { return "delivered" }
      let reason = fate.reason == "-" ? "" : " (\(fate.reason))"
      return "\(fate.word)\(reason) at \(node)"
    }
    let texts = [words(golden), words(actual)]
    guard texts[0] != texts[1] else { return nil }
    return Finding(
      .fateChanged, frame: frame.id, time: time(of: frame),
      node: actual.ended?.node ?? golden.ended?.node, golden: texts[0], actual: texts[1],
      message: "frame \(frame.id): \(texts[1]), golden: \(texts[0])")
  }

  /// One end at several sinks is one finding.
  private static func merged(_ fates: [Finding]) -> [Finding] {
    var merged: [Finding] = []
    for fate in fates where !merged.contains(fate) { merged.append(fate) }
    return merged
  }
}
