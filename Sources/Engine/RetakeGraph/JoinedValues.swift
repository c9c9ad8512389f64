public import RetakeBuffers
public import RetakeCore

/// The condition under which a join continues.
public enum JoinMode: String, Hashable, Sendable, CaseIterable, Codable {
  /// With the values of all ports.
  case all
  /// With the values that have arrived, at least one.
  case any
}

/// The output of a join: the values of its ports, in order.
public struct Joined: PipelineValue {
  /// One port of the join, with its value.
  public struct Part: Sendable {
    /// The port's name, unique in the join.
    public var port: String
    /// `nil` if no value arrived, or not in time.
    public var value: (any PipelineValue)?

    /// A port's value, for a test of a stage that reads a join.
    public init(port: String, value: (any PipelineValue)?) {
      self.port = port
      self.value = value
    }
  }

  /// One for each port, in the order of the join's ports; also for ports without a value.
  public var parts: [Part]

  /// For a test of a stage whose input is a join; runs make their own.
  public init(_ parts: [Part]) {
    self.parts = parts
  }

  public static var valueKind: ValueKind { .joined([]) }

  /// The value of one port, if it arrived and has that type.
  public func value<Value: PipelineValue>(of port: String, as type: Value.Type) -> Value? {
    parts.first { $0.port == port }?.value as? Value
  }

  /// The values of one type, in the order of the ports.
  public func values<Value: PipelineValue>(_ type: Value.Type) -> [Value] {
    parts.compactMap { $0.value as? Value }
  }

  public func digest(into hasher: inout DigestHasher) {
    hasher.append(Int64(parts.count))
    for part in parts {
      hasher.append(part.port)
      // A port without a value must not give the bytes of the next port's value.
      hasher.append(Int64(part.value == nil ? 0 : 1))
      part.value?.digest(into: &hasher)
    }
  }

  public var facts: [ResultFact] { parts.flatMap { $0.value?.facts ?? [] } }
}

/// One detection with the frame in which it was found. A forEach passes it to its body.
public struct Region: PipelineValue {
  /// The frame whose pixels are the coordinates of `detection.box`.
  public var frame: Frame
  /// The item of the forEach, with its box in pixels of `frame`.
  public var detection: Detection

  /// For a test of a stage that reads regions; in a run, a forEach makes them.
  public init(frame: Frame, detection: Detection) {
    self.frame = frame
    self.detection = detection
  }

  public static var valueKind: ValueKind { .region }

  public func digest(into hasher: inout DigestHasher) {
    Detections([detection], classNames: []).digest(into: &hasher)
    frame.digest(into: &hasher)
  }

  public var facts: [ResultFact] { [.detection(detection)] }
}

/// The outputs of a forEach's body for the detections of a frame.
public struct Items: PipelineValue {
  /// What the body gave for one detection.
  public enum Outcome: Sendable {
    /// The output of the body's last stage.
    case value(any PipelineValue)
    /// The item failed with this code. It keeps its place in the list.
    case failed(code: String)
  }

  /// The detections that entered the forEach, unchanged and in their order.
  public var detections: Detections
  /// One for each detection, in the same order.
  public var outcomes: [Outcome]

  /// The process ends unless there is one outcome for each detection.
  package init(detections: Detections, outcomes: [Outcome]) {
    requirement(detections.items.count == outcomes.count, "each detection has an outcome")
    self.detections = detections
    self.outcomes = outcomes
  }

  public static var valueKind: ValueKind { .items }

  public func digest(into hasher: inout DigestHasher) {
    detections.digest(into: &hasher)
    for outcome in outcomes {
      switch outcome {
      case .value(let value):
        hasher.append(Int64(1))
        value.digest(into: &hasher)
      case .failed(let code):
        hasher.append(Int64(0))
        hasher.append(code)
      }
    }
  }

  /// The detections, then the facts of each of them. Names of numbers and strings begin with the
  /// index of the detection: `0.mean`.
  public var facts: [ResultFact] {
    var facts = detections.facts
    for (index, outcome) in outcomes.enumerated() {
      switch outcome {
      case .value(let value): facts += value.facts.map { $0.numbered(index) }
      case .failed(let code): facts.append(.text(name: "\(index).failed", text: code))
      }
    }
    return facts
  }
}

extension ResultFact {
  fileprivate func numbered(_ index: Int) -> ResultFact {
    switch self {
    case .scalar(let name, let value): .scalar(name: "\(index).\(name)", value: value)
    case .text(let name, let text): .text(name: "\(index).\(name)", text: text)
    case .user(let kind, let digest): .user(kind: "\(index).\(kind)", digest: digest)
    // A C line is about the frame or about one of its D lines, so an item's label is written as a
    // string.
    case .classification(let item):
      .text(name: "\(index).\(item.label)", text: "\(item.score)")
    case .detection, .frame, .tensor, .waveform: self
    }
  }
}

/// The input and the output of a forEach.
package enum ForEachItems {
  /// The input of a forEach: the first frame and the first detections of a join.
  package static func input(_ value: any PipelineValue) -> (Frame, Detections)? {
    guard let joined = value as? Joined, let frame = joined.values(Frame.self).first,
      let detections = joined.values(Detections.self).first
    else { return nil }
    return (frame, detections)
  }

  /// The number of items. A frame that an `any` or latest join passed on without its detections has
  /// none.
  package static func count(in value: any PipelineValue) -> Int {
    input(value)?.1.items.count ?? 0
  }

  /// The item with a given index.
  package static func region(_ index: Int, of value: any PipelineValue) -> Region? {
    guard let (frame, detections) = input(value), detections.items.indices.contains(index) else {
      return nil
    }
    return Region(frame: frame, detection: detections.items[index])
  }

  /// The detections with a classifier's result for each of them; other bodies output `Items`.
  package static func gathered(
    _ value: any PipelineValue, outcomes: [Items.Outcome], isClassified: Bool
  ) -> any PipelineValue {
    guard var detections = input(value)?.1 else { return Detections([], classNames: []) }
    guard isClassified else { return Items(detections: detections, outcomes: outcomes) }
    for (index, outcome) in outcomes.enumerated() {
      // By `gather-close`, a failed item keeps its place: its detection stays, without labels.
      guard case .value(let value) = outcome, let classes = value as? Classes else { continue }
      detections.items[index].classes = classes.items
    }
    return detections
  }
}
