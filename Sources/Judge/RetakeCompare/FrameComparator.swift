import RetakeCore

/// Compares the lines of paired frames at one sink.
struct FrameComparator {
  /// A difference and its size, before it is known whether the rules allow it.
  struct Difference {
    var kind: Finding.Kind
    var golden: String?
    var actual: String?
    var magnitude: Double?
    var allowed: Double?
    var message: String
  }

  let sink: String
  let rule: SinkRule
  let classes: (golden: [String], actual: [String])
  private let hasSameClasses: Bool
  /// `nil` if the golden and the run kept no images.
  let images: StoredImages?
  /// Asked in long work. After an answer of `true` this ends early, with results of no meaning, and
  /// the caller discards them: an interruption is not taken back.
  let isInterrupted: () -> Bool
  var meter: ErrorMeter
  var pictures: ImageMeter
  var series = ScalarSeries()
  var observations = ObservationMeter()
  /// The actual identity that each golden identity was last paired with, if it is a different one.
  private(set) var identities: [Int: Int] = [:]

  init(
    sink: String, rule: SinkRule, goldenClasses: [String], actualClasses: [String],
    images: StoredImages? = nil, isInterrupted: @escaping () -> Bool = { false }
  ) {
    self.sink = sink
    self.rule = rule
    self.images = images
    self.isInterrupted = isInterrupted
    pictures = ImageMeter(isInterrupted: isInterrupted)
    classes = (goldenClasses, actualClasses)
    hasSameClasses = goldenClasses == actualClasses
    meter = ErrorMeter(rule: rule)
  }

  /// All differences that the rules do not allow. They include boxes without a partner, which the
  /// caller counts against `unmatchedMax`.
  ///
  /// - Parameter actualFrame: The id of the frame in the actual run, if it is different.
  mutating func compare(
    golden: [ResultLine], actual: [ResultLine], frame: FrameID, actualFrame: FrameID? = nil
  ) -> [Difference] {
    var differences: [Difference] = []
    // The boxes and the scalars of a frame are one sample of the drift, which ends after both.
    defer {
      meter.endFrame(frame)
      observations.endFrame(frame)
    }
    let goldenBoxes = golden.compactMap(\.detection)
    let actualBoxes = actual.compactMap(\.detection)
    let matching =
      rule.mode == .boxes && rule.order == .any
      ? BoxMatching(
        golden: goldenBoxes, actual: actualBoxes, leastOverlap: rule.iou, previous: identities)
      : BoxMatching(inOrder: goldenBoxes.count, actualBoxes.count)
    for (index, partner) in matching.partners.enumerated() {
      let box = goldenBoxes[index]
      guard let partner else {
        differences.append(missing(box))
        continue
      }
      if let difference = compare(box, actualBoxes[partner], frame) {
        differences.append(difference)
      }
    }
    for index in matching.unmatched { differences.append(added(actualBoxes[index])) }
    if goldenBoxes.count < golden.count || actualBoxes.count < actual.count {
      compareFacts(
        golden, actual, matching.partners, (frame, actualFrame ?? frame), into: &differences)
      compareObservations(
        golden.compactMap(\.observation), actual.compactMap(\.observation),
        (frame, actualFrame ?? frame), into: &differences)
    }
    return differences
  }

  /// In equal lines, each identity is paired with itself.
  mutating func noteEqual(_ lines: [ResultLine]) {
    // A frame that did not come to the sink has no values, and is not a sample of the drift.
    if let first = lines.first, case .ended = first { return }
    if !lines.isEmpty { meter.noteEqual(frames: 1) }
    // A series that has begun needs every frame: a gap would look like a lag.
    if !series.isEmpty {
      for case .scalar(let name, let value) in lines { series.add(name, value, value) }
    }
    noteEqualIdentities(lines)
  }

  /// Whether an identity was last paired with a different one.
  var hasOtherIdentities: Bool { !identities.isEmpty }

  mutating func noteEqualIdentities(_ lines: [ResultLine]) {
    guard hasOtherIdentities else { return }
    for line in lines {
      let identity = line.detection?.identity ?? line.observation?.identity
      if let identity { identities[identity] = nil }
    }
  }

  /// Like `noteEqual(_:)`, for a number of frames with facts that were not read, except for their
  /// identities: see `noteEqualIdentities(_:)`.
  mutating func noteEqualFacts(frames: Int) {
    meter.noteEqual(frames: frames)
    // The facts of equal blocks are not read, so that the series would have a gap here.
    series.end()
  }

  /// A fast path for the boxes of one frame, if comparing the boxes one by one is enough.
  ///
  /// - Returns: Whether they are equal, or only within tolerance. `nil`, without a recorded error,
  ///   if another pairing is possible, if an identity was paired with a different identity before,
  ///   or if an error is too large. In these cases `compare(golden:actual:frame:actualFrame:)` must
  ///   decide.
  mutating func areEqual(
    _ golden: BoxFrames, _ mine: Range<Int>, _ actual: BoxFrames, _ theirs: Range<Int>,
    _ frame: FrameID
  ) -> Bool? {
    guard mine.count == theirs.count, mine.count <= Self.quickMax, rule.mode != .exact,
      identities.isEmpty, hasSameClasses, !mine.isEmpty
    else { return nil }
    let isMatched = rule.mode == .boxes && rule.order == .any
    var isEqual = true
    for offset in 0..<mine.count {
      let box = golden.boxes[mine.lowerBound + offset]
      let other = actual.boxes[theirs.lowerBound + offset]
      guard box.identity == other.identity, box.classIndex == other.classIndex else { return nil }
      let steps = ErrorMeter.steps(box, other)
      guard meter.allows(steps.box, steps.score, like: box) else { return nil }
      isEqual = isEqual && steps.box == .zero && steps.score == 0
      guard isMatched else { continue }
      for place in 0..<theirs.count {
        let overlap = BoxMatching.overlap(box, actual.boxes[theirs.lowerBound + place])
        // Another possible partner, or a partner that is not possible, is for the matching to
        // decide.
        guard (overlap >= rule.iou) == (place == offset) else { return nil }
      }
    }
    // Recorded only now: up to here the slower path could still replace this one, and it records
    // the same errors.
    for offset in 0..<mine.count {
      let box = golden.boxes[mine.lowerBound + offset]
      let steps = ErrorMeter.steps(box, actual.boxes[theirs.lowerBound + offset])
      meter.note(steps.box, steps.score, like: box, frame)
    }
    meter.endFrame(frame)
    return isEqual
  }

  /// The most boxes of a frame up to which comparing each pair is faster than the matching.
  private static let quickMax = 32

  private func missing(_ box: DetectionLine) -> Difference {
    Difference(
      kind: .boxDisappeared, golden: ResultLine.detection(box).text,
      message: "\(className(box, classes.golden)) at \(place(box)) is gone")
  }

  private func added(_ box: DetectionLine) -> Difference {
    Difference(
      kind: .boxAppeared, actual: ResultLine.detection(box).text,
      message: "\(className(box, classes.actual)) at \(place(box)) is new")
  }

  /// The most serious difference of a box, with its other differences in the message.
  private mutating func compare(
    _ golden: DetectionLine, _ actual: DetectionLine, _ frame: FrameID
  ) -> Difference? {
    // Called even if no other difference exists, because it remembers the pair for the next frames.
    let isNewPair = pairs(golden.identity, actual.identity)
    let position = meter.measurePosition(golden, actual, frame)
    let score = meter.measure(.score, golden.score, actual.score, frame)
    let isOtherClass = !isSameClass(golden, actual)
    guard isNewPair || isOtherClass || !position.isAllowed || !score.isAllowed else { return nil }
    var changes: [(kind: Finding.Kind, text: String, error: ErrorMeter.Measured?)] = []
    if isOtherClass {
      changes.append((.classChanged, "is \(className(actual, classes.actual)) now", nil))
    }
    if !position.isAllowed {
      let pixels = position.text(decimals: golden.x.decimals)
      let what = isResized(golden, actual) ? "its size differs by" : "moved by"
      changes.append((.boxMoved, "\(what) \(pixels) px", position))
    }
    if !score.isAllowed {
      let change = score.text(decimals: golden.score.decimals)
      changes.append((.scoreChanged, "its score differs by \(change)", score))
    }
    if isNewPair {
      let number = actual.identity.map { "number \($0)" } ?? "without a number"
      changes.append((.identityChanged, "is \(number) now", nil))
    }
    let name = className(golden, classes.golden)
    return Difference(
      kind: changes[0].kind, golden: ResultLine.detection(golden).text,
      actual: ResultLine.detection(actual).text, magnitude: changes[0].error?.error,
      allowed: changes[0].error?.allowed,
      message: "\(name) at \(place(golden)): "
        + changes.map(\.text).joined(separator: ", "))
  }

  /// Whether the size differs by more than the corner.
  private func isResized(_ golden: DetectionLine, _ actual: DetectionLine) -> Bool {
    func most(_ sides: (FixedDecimal, FixedDecimal)...) -> Double {
      sides.map { abs($0.value - $1.value) }.max() ?? 0
    }
    return most((golden.width, actual.width), (golden.height, actual.height))
      > most((golden.x, actual.x), (golden.y, actual.y))
  }

  private func isSameClass(_ golden: DetectionLine, _ actual: DetectionLine) -> Bool {
    if golden.classIndex == actual.classIndex && hasSameClasses { return true }
    // An index belongs to its own run's list: an inserted class moves all classes after it.
    return className(golden, classes.golden) == className(actual, classes.actual)
  }

  /// Records the pair of two identities. Returns whether it is a new pair; for modes other than
  /// `boxes`, whether the two identities differ.
  mutating func pairs(_ golden: Int?, _ actual: Int?) -> Bool {
    guard let golden, let actual else { return golden != actual }
    // A tracker's numbers are arbitrary. In `boxes` an object with another number is reported once,
    // when its pair changes, and not in every frame.
    let before = identities[golden] ?? golden
    identities[golden] = golden == actual ? nil : actual
    return rule.mode == .boxes ? before != actual : golden != actual
  }

  func className(_ box: DetectionLine, _ names: [String]) -> String {
    names.indices.contains(box.classIndex) ? names[box.classIndex] : "class \(box.classIndex)"
  }

  private func place(_ box: DetectionLine) -> String {
    "\(box.x.text),\(box.y.text) \(box.width.text)x\(box.height.text)"
  }
}

extension ResultLine {
  var detection: DetectionLine? {
    if case .detection(let detection) = self { detection } else { nil }
  }

  var observation: ObservationLine? {
    if case .observation(let observation) = self { observation } else { nil }
  }
}
