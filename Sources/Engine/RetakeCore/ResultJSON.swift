/// Writes frames as JSON lines, one per frame, with the values of a results file. A run streams
/// these lines. Keys are in byte order.
package struct ResultJSON: ~Copyable, Sendable {
  /// A frame's result, and the data that is written with it.
  package struct Frame {
    package var result: FrameResult
    /// Virtual time of its arrival, in nanoseconds.
    package var arrivalNanoseconds: Int64
    /// Virtual time of its delivery, for each of the result's outcomes; `nil` if the frame ended.
    package var deliveries: [Int64?]
    /// Names by class index, for each of the result's outcomes; empty for a sink without class
    /// names.
    package var classNames: [[String]]
    package var failures: [StageFailure]

    package init(
      _ result: FrameResult, arrivalNanoseconds: Int64, deliveries: [Int64?],
      classNames: [[String]], failures: [StageFailure] = []
    ) {
      self.result = result
      self.arrivalNanoseconds = arrivalNanoseconds
      self.deliveries = deliveries
      self.classNames = classNames
      self.failures = failures
    }
  }

  private let sinks: [ResultHeader.Sink]
  private var text = TextBuffer(capacity: 4_096)
  private var rounder = ResultRounder()
  private var lines: [ResultLine] = []

  /// - Parameter sinks: The sinks whose outcomes are written.
  package init(sinks: [ResultHeader.Sink]) {
    self.sinks = sinks
  }

  /// The line of the frame, with its line end.
  package mutating func line(of frame: Frame) -> String {
    text.removeAll()
    // The literals are in the order of the keys' bytes: each line is canonical JSON without a
    // Dictionary.
    text.append("{\"pts\":")
    if let pts = frame.result.pts { text.append(Int(pts)) } else { text.append("null") }
    text.append(",\"sequence\":")
    text.append(frame.result.id.sequence)
    text.append(",\"sinks\":{")
    var isFirst = true
    for (index, outcome) in frame.result.outcomes.enumerated() {
      // A metadata file contains only the lines of its sink.
      guard let sink = sinks.first(where: { $0.path == outcome.sink }) else { continue }
      if !isFirst { text.append(UInt8(ascii: ",")) }
      isFirst = false
      text.append(json: outcome.sink)
      switch outcome.content {
      case .ended(let fate, let node):
        // A frame can fail in several branches. The message comes from the node where the frame
        // ended for this sink.
        append(fate, node: node, failure: frame.failures.first { $0.node == node })
      case .facts(let facts):
        lines.removeAll(keepingCapacity: true)
        rounder.append(facts, of: sink, to: &lines)
        appendDelivery(
          age: frame.deliveries[index].map { $0 - frame.arrivalNanoseconds },
          classNames: frame.classNames[index])
      }
    }
    text.append("},\"timeNanoseconds\":")
    text.append(Int(frame.arrivalNanoseconds))
    text.append(",\"track\":")
    text.append(frame.result.id.track)
    text.append("}\n")
    return text.text
  }

  private mutating func append(_ fate: FrameFate, node: String, failure: StageFailure?) {
    text.append(":{\"fate\":")
    text.append(json: fate.word)
    if let failure {
      text.append(",\"message\":")
      text.append(json: failure.message)
    }
    text.append(",\"node\":")
    text.append(json: node)
    // In JSON a key without a value is omitted; result lines have `-` instead.
    if fate.reason != "-" {
      text.append(",\"reason\":")
      text.append(json: fate.reason)
    }
    text.append(UInt8(ascii: "}"))
  }

  /// Appends the groups of facts in the order of their keys. Empty groups are omitted.
  private mutating func appendDelivery(age: Int64?, classNames: [String]) {
    var groups = FactGroups()
    for line in lines { groups.add(line) }
    text.append(":{")
    if let age {
      text.append("\"ageMilliseconds\":")
      // Nanoseconds are millionths of a millisecond, so the number is exact without a division.
      text.append(json: FixedDecimal(units: Double(age), decimals: 6))
      text.append(UInt8(ascii: ","))
    }
    if !groups.detections.isEmpty {
      text.append("\"detections\":")
      text.append(jsonArray: groups.detections) {
        $0.append(json: $1.line, labels: $1.labels, classNames: classNames)
      }
      text.append(UInt8(ascii: ","))
    }
    text.append("\"fate\":\"deliver\"")
    append("labels", groups.labels) { $0.append(json: $1) }
    append("observations", groups.observations) { $0.append(json: $1) }
    append("pictures", groups.pictures) { $0.append(json: $1) }
    append("scalars", groups.scalars) { $0.append(jsonName: $1.name, value: $1.value) }
    append("tensors", groups.tensors) { $0.append(json: $1) }
    append("texts", groups.texts) { $0.append(jsonName: $1.name, text: $1.text) }
    append("values", groups.values) { $0.append(jsonKind: $1.kind, digest: $1.digest) }
    append("waveforms", groups.waveforms) { $0.append(json: $1) }
    text.append(UInt8(ascii: "}"))
  }

  private mutating func append<Element>(
    _ key: StaticString, _ elements: [Element], _ append: (inout TextBuffer, Element) -> Void
  ) {
    guard !elements.isEmpty else { return }
    text.append(",\"")
    text.append(key)
    text.append("\":")
    text.append(jsonArray: elements, append)
  }
}
