/// Converts the values that a sink received to the lines of a results file: rounded, and in order.
struct ResultRounder: Sendable {
  private var detections: [SortedDetection] = []

  /// Appends the lines of one frame at one sink: each detection with its labels, then the rest.
  mutating func append(
    _ facts: [ResultFact], of sink: ResultHeader.Sink, to lines: inout [ResultLine]
  ) {
    let precision = sink.precision
    detections.removeAll(keepingCapacity: true)
    for case .detection(let detection) in facts {
      detections.append(SortedDetection(detection, precision, index: detections.count))
    }
    if detections.count > 1 && !sink.orderIsSignificant { detections.sort() }
    for index in detections.indices {
      lines.append(.detection(detections[index].line))
      for label in detections[index].classes {
        // The index after sorting: a C line counts the D lines as they are written.
        lines.append(.classification(detection: index, label: label.label, score: label.score))
      }
    }
    guard detections.count < facts.count else { return }
    for fact in facts {
      if let line = ResultLine(fact, precision) { lines.append(line) }
    }
  }
}

extension ResultLine {
  /// The line of a fact other than a detection; detections are sorted separately.
  fileprivate init?(_ fact: ResultFact, _ precision: Precision) {
    func scalar(_ value: Double) -> FixedDecimal {
      FixedDecimal(value, decimals: precision.scalarDecimals)
    }
    switch fact {
    case .detection: return nil
    case .classification(let label):
      self = .classification(
        detection: nil, label: label.label,
        score: FixedDecimal(label.score, decimals: precision.scoreDecimals))
    case .scalar(let name, let value): self = .scalar(name: name, value: scalar(value))
    case .frame(let print): self = .picture(print)
    case .tensor(let type, let shape, let digest):
      self = .tensor(type: type, shape: shape, digest: digest)
    case .waveform(let waveform):
      self = .waveform(
        name: waveform.name, rate: scalar(waveform.rate), samples: waveform.samples.map(scalar))
    case .text(let name, let text): self = .text(name: name, text: text)
    case .user(let kind, let digest): self = .user(kind: kind, digest: digest)
    case .observation(let observation):
      self = .observation(ObservationLine(observation, precision))
    }
  }
}
