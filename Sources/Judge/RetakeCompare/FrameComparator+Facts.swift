import RetakeCore

/// Facts that are not detections.
extension FrameComparator {
  mutating func compareFacts(
    _ golden: [ResultLine], _ actual: [ResultLine], _ partners: [Int?],
    _ frames: (golden: FrameID, actual: FrameID), into differences: inout [Difference]
  ) {
    // Labels of both sides are found by the detection's index in the actual run: a box that appears
    // before another one shifts the indices.
    let goldenFacts = KeyedFacts(golden) { partners.indices.contains($0) ? partners[$0] : nil }
    let actualFacts = KeyedFacts(actual) { $0 }
    let paired = Set(partners.compactMap(\.self))
    differences += labelDifferences(goldenFacts, actualFacts)
    for (key, line) in goldenFacts.entries {
      if let other = actualFacts[key] {
        if let difference = compare(line, other, frames) { differences.append(difference) }
      } else {
        differences.append(
          Difference(
            kind: .factDisappeared, golden: line.text, message: "\(key.words) is missing"))
      }
    }
    // Labels of a box without a partner are part of the finding about that box.
    for (key, line) in actualFacts.entries
    where goldenFacts[key] == nil && key.detection.map(paired.contains) ?? true {
      differences.append(
        Difference(kind: .factAppeared, actual: line.text, message: "\(key.words) is new"))
    }
    // Asked last, because a fact that was added or removed changes the order, too.
    if rule.mode == .exact, differences.isEmpty, goldenFacts.keys != actualFacts.keys {
      differences.append(
        Difference(kind: .factChanged, message: "the facts come in another order"))
    }
  }

  private mutating func compare(
    _ golden: ResultLine, _ actual: ResultLine, _ frames: (golden: FrameID, actual: FrameID)
  ) -> Difference? {
    let frame = frames.golden
    switch (golden, actual) {
    case (.classification(_, let label, let left), .classification(_, _, let right)):
      let error = meter.measure(.score, left, right, frame)
      return difference(error, .scoreChanged, golden, actual, "the score of \(label)", left)
    case (.scalar(let name, let left), .scalar(_, let right)):
      series.add(name, left, right)
      let error = meter.measure(.scalar, left, right, frame)
      return difference(error, .numberChanged, golden, actual, name, left)
    case (.waveform(let name, _, let left), .waveform(_, _, let right)):
      guard left.count == right.count else {
        return Difference(
          kind: .waveformChanged, golden: golden.text, actual: actual.text,
          message: "\(name) has \(counted(right.count, "sample")) instead of \(left.count)")
      }
      return waveformDifference(golden, actual, frame)
    case (.picture(let left), .picture(let right)):
      let places = places(frames)
      guard let found = pictures.difference(left, right, rule, images, places) else { return nil }
      return Difference(
        kind: .pictureChanged, golden: golden.text, actual: actual.text, message: found)
    case (.text(let name, let left), .text(_, let right)) where left != right:
      return Difference(
        kind: .textChanged, golden: golden.text, actual: actual.text,
        message: "the text \(name) \(TextDifference.words(left, right))")
    default:
      guard golden != actual else { return nil }
      return Difference(
        kind: .factChanged, golden: golden.text, actual: actual.text,
        message: "\(KeyedFacts.Key(golden, detection: nil).words) differs")
    }
  }

  func places(
    _ frames: (golden: FrameID, actual: FrameID), _ indices: (golden: Int, actual: Int)? = nil
  ) -> ImageMeter.Places {
    (
      StoredImages.Place(frame: frames.golden, sink: sink, index: indices?.golden),
      StoredImages.Place(frame: frames.actual, sink: sink, index: indices?.actual)
    )
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

  // MARK: labels

  /// Another best label of the frame or of a detection, unless the tolerance of the scores allows
  /// the two labels to change places.
  private func labelDifferences(_ golden: KeyedFacts, _ actual: KeyedFacts) -> [Difference] {
    let (before, now) = (golden.bestLabels, actual.bestLabels)
    return before.compactMap { place, best in
      guard let other = now.first(where: { $0.detection == place })?.best,
        best.key.name != other.key.name,
        !(isAllowed(best, in: actual) && isAllowed(other, in: golden))
      else { return nil }
      let subject = place.map { "the best label of detection \($0)" } ?? "the best label"
      return Difference(
        kind: .labelChanged, golden: best.line.text, actual: other.line.text,
        message: "\(subject) is \(other.key.name) instead of \(best.key.name)")
    }
  }

  private func isAllowed(_ label: KeyedFacts.Entry, in other: KeyedFacts) -> Bool {
    guard case .classification(_, _, let score) = label.line,
      case .classification(_, _, let theirs)? = other[label.key]
    else { return false }
    let allowed = rule.mode == .exact ? 0 : rule.score
    // The factor allows for the rounding of decimals, as in `ErrorMeter`.
    return (score.value - theirs.value).magnitude <= allowed * (1 + 1e-9)
  }

  // MARK: waveforms

  private mutating func waveformDifference(
    _ golden: ResultLine, _ actual: ResultLine, _ frame: FrameID
  ) -> Difference? {
    guard case .waveform(let name, let rate, let left) = golden,
      case .waveform(_, let otherRate, let right) = actual
    else { return nil }
    let isByShape =
      rule.mode != .exact && (rule.rmsMax > 0 || rule.correlationMin > 0 || rule.lagMax > 0)
    var worst = meter.measure(.scalar, rate, otherRate, frame)
    let isSameRate = worst.isAllowed
    for (sample, other) in zip(left, right) {
      // Samples that are judged by their shape are not recorded: their errors would exceed a
      // tolerance that does not apply.
      let error =
        isByShape ? meter.look(sample, other) : meter.measure(.scalar, sample, other, frame)
      if error.isWorse(than: worst) { worst = error }
    }
    guard !worst.isAllowed || isByShape else { return nil }
    // A single NaN would make every measure of the shape NaN.
    let samples = (left + right).allSatisfy(\.units.isFinite)
    let shape =
      samples ? SignalDifference(golden: left.map(\.value), actual: right.map(\.value)) : nil
    // Equal lines may contain a NaN and have no shape then, and are equal all the same.
    if isByShape, isSameRate, golden == actual || shape.map(isAllowed) ?? false { return nil }
    var message = "\(name) differs by \(worst.text(decimals: rate.decimals))"
    if let shape { message += ": \(words(shape, rate: rate.value))" }
    return Difference(
      kind: .waveformChanged, golden: golden.text, actual: actual.text, magnitude: worst.error,
      allowed: isByShape ? nil : worst.allowed, message: message)
  }

  /// A rule with only a correlation allows any amplitude of the signal.
  private func isAllowed(_ shape: SignalDifference) -> Bool {
    let isSizeFree = rule.rmsMax == 0 && rule.correlationMin > 0
    return shape.lag.magnitude <= rule.lagMax
      && (isSizeFree || shape.rmsAtLag <= rule.rmsMax * (1 + 1e-9))
      && shape.correlationAtLag >= rule.correlationMin
  }

  private func words(_ shape: SignalDifference, rate: Double) -> String {
    let rms = FixedDecimal(shape.rms, decimals: 3).text
    var words = "RMS \(rms), correlation \(FixedDecimal(shape.correlation, decimals: 3).text)"
    if shape.isShifted {
      let count = shape.lag.magnitude
      words += ", \(counted(count, "sample"))"
      if rate > 0 {
        words += " (\(FixedDecimal(Double(count) / rate * 1_000, decimals: 1).text) ms)"
      }
      words += shape.lag > 0 ? " later" : " earlier"
    }
    return words
  }
}
