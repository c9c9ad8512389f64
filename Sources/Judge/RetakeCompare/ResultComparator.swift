package import RetakeCore

/// Compares two streams of results: equal blocks by their digests, the others frame by frame.
package struct ResultComparator {
  package internal(set) var counts = ComparisonCounts()
  package var log: FindingLog
  /// Frames with a finding about their fate. Decisions about them would only repeat it.
  package internal(set) var framesWithOtherFate: Set<FrameID> = []
  /// Dropped frames of the run by sink.
  package private(set) var dropped: [Int]

  /// The run's times, if they are compared from the start of each run: two sessions may have other
  /// time bases, and begin at another time.
  package var actualTimes: RunTimes?

  private let golden: ResultHeader
  private let goldenTimes: RunTimes
  /// Why a frame ended differently, according to the decisions.
  let chains: [FrameID: [String]]
  /// The actual index of each golden sink.
  let sinkPairs: [Int?]
  let blocksAreComparable: Bool
  var sinks: [FrameComparator]
  var unmatched: [UnmatchedBoxes]
  /// Frames that count as within tolerance only while their boxes are held back; at most
  /// `unmatchedMax` for each sink.
  var framesWithHeldBoxes: Set<FrameID> = []
  /// By golden sink: whether its other classes are a finding already.
  private var hasOtherClasses: [Bool]
  private var aligner: FrameAligner
  private let isInterrupted: () -> Bool
  private var gaps: [Int: Finding] = [:]
  /// The frames of a block of boxes, reused to avoid allocations.
  private var goldenBoxes = BoxFrames()
  private var actualBoxes = BoxFrames()

  /// - Parameters:
  ///   - origin: The virtual time's zero, in nanoseconds of presentation time.
  ///   - log: Contains the causes that are already known.
  ///   - chains: Why a frame ended differently, nearest cause first.
  ///   - images: Provides the pixels of images.
  ///   - isInterrupted: Asked between frames and in long work. After an answer of `true` the
  ///     results have no meaning.
  package init(
    golden: ResultHeader, actual: ResultHeader, rules: CompareRules, pairing: Pairing = .sequence,
    origin: Int64 = 0, log: FindingLog = FindingLog(), chains: [FrameID: [String]] = [:],
    images: StoredImages? = nil, isInterrupted: @escaping () -> Bool = { false }
  ) {
    self.isInterrupted = isInterrupted
    self.chains = chains
    self.golden = golden
    goldenTimes = RunTimes(golden, origin: origin)
    self.log = log
    sinkPairs = golden.sinks.map { actual.sinks.firstIndex(of: $0) }
    dropped = actual.sinks.map { _ in 0 }
    // A sink and a track are not written where there is only one, so equal bytes state equal facts
    // only under the same header.
    blocksAreComparable = golden.sinks == actual.sinks && golden.tracks == actual.tracks
    aligner = FrameAligner(pairing: pairing)
    sinks = golden.sinks.enumerated().map { index, sink in
      let partner = actual.sinks.firstIndex(of: sink)
      return FrameComparator(
        sink: sink, rule: rules.rule(for: sink), goldenClasses: golden.classes[index],
        actualClasses: partner.map { actual.classes[$0] } ?? [], images: images,
        isInterrupted: isInterrupted)
    }
    hasOtherClasses = sinks.map { _ in false }
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

  /// Compares the next file of each side; `nil` if a side has no more files.
  package mutating func compare(
    golden: ResultChunk?, actual: ResultChunk?
  ) throws {
    let left = golden?.blocks ?? []
    let right = actual?.blocks ?? []
    noteClasses(golden?.header, actual?.header)
    for index in 0..<max(left.count, right.count) where !isInterrupted() {
      let mine = index < left.count ? left[index] : nil
      let theirs = index < right.count ? right[index] : nil
      counts.facts += mine?.facts ?? 0
      for (sink, count) in (theirs?.dropped ?? []).enumerated() { dropped[sink] += count }
      // With `aligner.isEmpty`: a frame that waits may find its partner in this block.
      if let mine, let theirs, blocksAreComparable, mine.digest == theirs.digest,
        aligner.isEmpty
      {
        counts.same += mine.frameCount
        if mine.facts > 0, let golden { try noteEqual(mine, of: golden) }
        continue
      }
      if let mine, let theirs, let golden, let actual,
        compareBoxes((mine, golden), (theirs, actual))
      {
        continue
      }
      let goldenFrames = try mine.flatMap { block in
        try golden?.frames(of: block)
      }
      let actualFrames = try theirs.flatMap { block in
        try actual?.frames(of: block)
      }
      aligner.add(golden: goldenFrames ?? [], actual: actualFrames ?? [])
      for pair in aligner.take(atEnd: false) where !isInterrupted() { compare(pair) }
    }
  }

  /// Records a block with facts that both sides have. It is read only if findings depend on the
  /// identities in it: they must not depend on where a block ends.
  private mutating func noteEqual(
    _ block: ResultChunk.Block, of golden: ResultChunk
  ) throws {
    for index in sinks.indices {
      sinks[index].noteEqualFacts(frames: block.framesWithFacts[index])
    }
    guard sinks.contains(where: \.hasOtherIdentities) else { return }
    for frame in try golden.frames(of: block) {
      for outcome in frame.outcomes { sinks[outcome.sink].noteEqualIdentities(outcome.lines) }
    }
  }

  /// Compares two blocks that contain only boxes, for the same frames. Returns `false`, without
  /// doing anything, for other blocks.
  private mutating func compareBoxes(
    _ golden: (block: ResultChunk.Block, chunk: ResultChunk),
    _ actual: (block: ResultChunk.Block, chunk: ResultChunk)
  ) -> Bool {
    // An open gap is closed by the next pair of its track, which needs the slower path.
    guard blocksAreComparable, sinks.count == 1, aligner.isEmpty, gaps.isEmpty,
      golden.block.holdsBoxesAlone, actual.block.holdsBoxesAlone,
      golden.block.frameCount == actual.block.frameCount,
      goldenBoxes.read(golden.block, of: golden.chunk),
      actualBoxes.read(actual.block, of: actual.chunk)
    else { return false }
    let indices = goldenBoxes.entries.indices
    let isByTime = aligner.pairing == .presentationTime
    // All frames are checked before the first is recorded, because the slower path reads every
    // frame of the block.
    for index in indices {
      let (mine, theirs) = (goldenBoxes.entries[index], actualBoxes.entries[index])
      guard mine.id == theirs.id, !isByTime || mine.pts == theirs.pts else { return false }
    }
    for index in indices {
      let (mine, theirs) = (goldenBoxes.entries[index], actualBoxes.entries[index])
      let isEqual =
        mine.pts == theirs.pts
        ? sinks[0].areEqual(goldenBoxes, mine.boxes, actualBoxes, theirs.boxes, mine.id) : nil
      switch isEqual {
      case true?: counts.same += 1
      case false?: counts.withinTolerance += 1
      // This also reports another presentation time.
      case nil: compare(goldenBoxes.frame(index), actualBoxes.frame(index))
      }
    }
    return true
  }

  /// Compares the remaining frames. Findings about the run instead of a frame are added now.
  package mutating func finish() -> [ErrorHeadroom] {
    for pair in aligner.take(atEnd: true) where !isInterrupted() { compare(pair) }
    // No further pair closes these gaps. Sorted, because findings must not have a Dictionary's
    // order.
    for track in gaps.keys.sorted() { closeGap(track) }
    var headroom: [ErrorHeadroom] = []
    for (index, sink) in sinks.enumerated() {
      headroom += sink.meter.headroom(sink: sink.sink)
      let boxes = unmatched[index]
      headroom.append(
        ErrorHeadroom(
          sink: sink.sink, quantity: "unmatched", largest: Double(boxes.count),
          allowed: Double(boxes.allowed), frame: boxes.first))
      headroom += sink.pictures.headroom(sink: sink.sink, sink.rule)
      headroom += sink.observations.headroom(sink: sink.sink, sink.rule)
      headroom += judgeDrift(of: sink)
    }
    return headroom
  }

  /// The errors over all compared frames, for quantities with an error.
  package var errorCurves: [ErrorCurve] {
    sinks.flatMap { sink in
      sink.meter.errorCurves(sink: sink.sink)
        + sink.observations.errorCurves(sink: sink.sink, sink.rule)
    }
  }

  /// The first kept image whose file does not belong to its line.
  package var damagedImage: (place: StoredImages.Place, isPicture: Bool, isGolden: Bool)? {
    sinks.lazy.compactMap(\.pictures.damaged).first.map { ($0.place, $0.isPicture, $0.isGolden) }
  }

  /// Information that is not a finding.
  package var notes: [String] {
    sinks.flatMap { sink in
      sink.series.notes.map { "\(sink.sink): \($0)" }
        + (sink.pictures.note(sink: sink.sink).map { [$0] } ?? [])
    }
  }

  private mutating func judgeDrift(of sink: FrameComparator) -> [ErrorHeadroom] {
    guard let (drift, frame) = sink.meter.driftWithinTolerance else { return [] }
    let allowed = sink.rule.driftPer1000
    if drift.change > allowed {
      let change = FixedDecimal(drift.change, decimals: 3).text
      let total = FixedDecimal(drift.total, decimals: 3).text
      log.add(
        Finding(
          .drift, frame: frame, node: sink.sink, magnitude: drift.change, allowed: allowed,
          message: "the error drifts by \(change) in 1,000 frames, \(total) in all, "
            + "while each single one is within tolerance"))
    }
    return [
      ErrorHeadroom(
        sink: sink.sink, quantity: "drift", largest: drift.change, allowed: allowed, frame: frame)
    ]
  }

  private mutating func noteClasses(_ golden: ResultHeader?, _ actual: ResultHeader?) {
    guard let golden, let actual else { return }
    for (index, partner) in sinkPairs.enumerated() {
      // Every file's header is compared, because a class that is found later is not in the headers
      // before. One finding for each sink is enough.
      guard let partner, golden.classes[index] != actual.classes[partner],
        !hasOtherClasses[index]
      else { continue }
      hasOtherClasses[index] = true
      let sink = golden.sinks[index]
      let names = [golden.classes[index], actual.classes[partner]].map {
        $0.joined(separator: ", ")
      }
      log.add(
        Finding(
          .classesChanged, node: sink, golden: names[0], actual: names[1],
          message: "the classes of \(sink) are \(names[1]) instead of \(names[0])"))
    }
  }

  func time(of frame: ResultFrame) -> Int64? { goldenTimes.time(of: frame) }

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

  /// Consecutive missing frames are one finding.
  private mutating func extendGap(_ kind: Finding.Kind, _ frame: ResultFrame) {
    let track = frame.id.track
    // The decisions about this frame are missing, too, and would only repeat the finding.
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
    // "about" in the message, because a source counts lost frames, so that sequences may have
    // holes.
    let last = frame.sequence + gap.frameCount - 1
    let frames =
      gap.frameCount == 1
      ? "frame \(frame) is" : "\(gap.frameCount) frames from \(frame) to about \(last) are"
    gap.message = frames + (gap.kind == .frameLost ? " missing" : " new")
    log.add(gap)
  }
}
