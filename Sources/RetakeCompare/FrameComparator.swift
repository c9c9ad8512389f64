import RetakeCore

/// Compares the lines of paired frames at one sink.
struct FrameComparator {
  /// A difference and how large it is, before it is known whether the rules allow it.
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
  private(set) var meter: ErrorMeter
  /// The actual identity that each golden identity went with last, where it is another one.
  private var identities: [Int: Int] = [:]

  init(sink: String, rule: SinkRule, goldenClasses: [String], actualClasses: [String]) {
    self.sink = sink
    self.rule = rule
    classes = (goldenClasses, actualClasses)
    hasSameClasses = goldenClasses == actualClasses
    meter = ErrorMeter(rule: rule)
  }

  /// All that the rules do not allow. Boxes without a partner are among it: the caller counts them
  /// against `unmatchedMax`.
  mutating func compare(
    golden: [ResultLine], actual: [ResultLine], frame: FrameID
  ) -> [Difference] {
    var differences: [Difference] = []
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
      compareFacts(golden, actual, matching.partners, frame, into: &differences)
    }
    return differences
  }

  /// In equal lines everybody goes with himself.
  mutating func noteEqual(_ lines: [ResultLine]) {
    guard !identities.isEmpty else { return }
    for line in lines {
      if let identity = line.detection?.identity { identities[identity] = nil }
    }
  }

  /// As `noteEqual(_:)` for facts that nobody has read.
  mutating func noteEqualFacts() { identities.removeAll() }

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

  /// One difference a box: the gravest, with the others in the message.
  private mutating func compare(
    _ golden: DetectionLine, _ actual: DetectionLine, _ frame: FrameID
  ) -> Difference? {
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
      changes.append((.boxMoved, "moved by \(pixels) px", position))
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

  private func isSameClass(_ golden: DetectionLine, _ actual: DetectionLine) -> Bool {
    if golden.classIndex == actual.classIndex && hasSameClasses { return true }
    return className(golden, classes.golden) == className(actual, classes.actual)
  }

  /// Remembers who goes with whom; whether that is news and the two numbers differ.
  private mutating func pairs(_ golden: Int?, _ actual: Int?) -> Bool {
    guard let golden, let actual else { return golden != actual }
    let before = identities[golden] ?? golden
    identities[golden] = golden == actual ? nil : actual
    return rule.mode == .boxes ? before != actual : golden != actual
  }

  private func className(_ box: DetectionLine, _ names: [String]) -> String {
    names.indices.contains(box.classIndex) ? names[box.classIndex] : "class \(box.classIndex)"
  }

  private func place(_ box: DetectionLine) -> String {
    "\(box.x.text),\(box.y.text) \(box.width.text)x\(box.height.text)"
  }

  // MARK: facts other than detections

  private mutating func compareFacts(
    _ golden: [ResultLine], _ actual: [ResultLine], _ partners: [Int?], _ frame: FrameID,
    into differences: inout [Difference]
  ) {
    let goldenFacts = KeyedFacts(golden) { partners.indices.contains($0) ? partners[$0] : nil }
    let actualFacts = KeyedFacts(actual) { $0 }
    let paired = Set(partners.compactMap(\.self))
    for (key, line) in goldenFacts.entries {
      if let other = actualFacts[key] {
        if let difference = compare(line, other, frame) { differences.append(difference) }
      } else {
        differences.append(
          Difference(
            kind: .factDisappeared, golden: line.text, message: "\(key.words) is missing"))
      }
    }
    for (key, line) in actualFacts.entries
    where goldenFacts[key] == nil && key.detection.map(paired.contains) ?? true {
      differences.append(
        Difference(kind: .factAppeared, actual: line.text, message: "\(key.words) is new"))
    }
    if rule.mode == .exact, differences.isEmpty, goldenFacts.keys != actualFacts.keys {
      differences.append(
        Difference(kind: .factChanged, message: "the facts come in another order"))
    }
  }

  private mutating func compare(
    _ golden: ResultLine, _ actual: ResultLine, _ frame: FrameID
  ) -> Difference? {
    switch (golden, actual) {
    case (.classification(_, let label, let left), .classification(_, _, let right)):
      let error = meter.measure(.score, left, right, frame)
      return difference(error, .scoreChanged, golden, actual, "the score of \(label)", left)
    case (.scalar(let name, let left), .scalar(_, let right)):
      let error = meter.measure(.scalar, left, right, frame)
      return difference(error, .numberChanged, golden, actual, name, left)
    case (.waveform(let name, let rate, let left), .waveform(_, let otherRate, let right)):
      guard left.count == right.count else {
        return Difference(
          kind: .factChanged, golden: golden.text, actual: actual.text,
          message: "\(name) has \(right.count) samples instead of \(left.count)")
      }
      var worst = meter.measure(.scalar, rate, otherRate, frame)
      for (sample, other) in zip(left, right) {
        let error = meter.measure(.scalar, sample, other, frame)
        if error.isWorse(than: worst) { worst = error }
      }
      return difference(worst, .numberChanged, golden, actual, name, rate)
    default:
      guard golden != actual else { return nil }
      return Difference(
        kind: .factChanged, golden: golden.text, actual: actual.text,
        message: "\(KeyedFacts.Key(golden, detection: nil).words) differs")
    }
  }

  private func difference(
    _ error: ErrorMeter.Measured, _ kind: Finding.Kind, _ golden: ResultLine,
    _ actual: ResultLine, _ name: String, _ number: FixedDecimal
  ) -> Difference? {
    guard !error.isAllowed else { return nil }
    return Difference(
      kind: kind, golden: golden.text, actual: actual.text, magnitude: error.error,
      allowed: error.allowed,
      message: "\(name) differs by \(error.text(decimals: number.decimals))")
  }
}

extension ResultLine {
  var detection: DetectionLine? {
    if case .detection(let detection) = self { detection } else { nil }
  }
}
