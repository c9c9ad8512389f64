package import RetakeCore

/// Writes decisions as lines, digests all of them, and passes the lines to the observer.
package struct DecisionLog: ~Copyable {
  /// Bytes that are collected before they are digested together.
  private static let batchBytes = 16_384

  private let nodeIDs: [String]
  /// Each ID between two spaces.
  private let nodeTexts: [[UInt8]]
  private let observer: ((DecisionLine) -> Void)?
  private var hasher = DigestHasher()
  private var buffer: [UInt8] = []
  /// The written time and frame of the line before: most lines repeat them.
  private var lastTime: (nanoseconds: Int64, text: [UInt8])?
  private var lastFrame: (id: FrameID, item: Int32, text: [UInt8])?
  package private(set) var count = 0

  package init(nodeIDs: [String], observer: ((DecisionLine) -> Void)?) {
    self.nodeIDs = nodeIDs
    nodeTexts = nodeIDs.map { Array(" \($0) ".utf8) }
    self.observer = observer
    buffer.reserveCapacity(Self.batchBytes + 1_024)
  }

  package mutating func append(_ decision: Decision) {
    count += 1
    write(decision)
    if buffer.count >= Self.batchBytes { flush() }
    observer?(line(of: decision))
  }

  /// XXH3-128 over every line so far, each with its newline.
  package mutating func digest() -> Digest128 {
    flush()
    return hasher.finish()
  }

  private mutating func flush() {
    hasher.append(buffer)
    buffer.removeAll(keepingCapacity: true)
  }

  private mutating func write(_ decision: Decision) {
    appendTime(decision.time)
    buffer.append(contentsOf: nodeTexts[decision.node])
    if let frame = decision.frame {
      append(frame, item: decision.item)
    } else {
      buffer.append(UInt8(ascii: "-"))
    }
    buffer.append(UInt8(ascii: " "))
    buffer.append(contentsOf: decision.kind.rawValue.utf8)
    for detail in details(of: decision) {
      buffer.append(UInt8(ascii: " "))
      buffer.append(contentsOf: detail.key.utf8)
      buffer.append(UInt8(ascii: "="))
      buffer.append(contentsOf: detail.value.utf8)
    }
    buffer.append(UInt8(ascii: "\n"))
  }

  private mutating func appendTime(_ nanoseconds: Int64) {
    if lastTime?.nanoseconds != nanoseconds {
      var text = [UInt8(ascii: "@")]
      text.append(decimal: nanoseconds)
      lastTime = (nanoseconds, text)
    }
    if let lastTime { buffer.append(contentsOf: lastTime.text) }
  }

  private mutating func append(_ frame: FrameID, item: Int32) {
    if lastFrame?.id != frame || lastFrame?.item != item {
      var text: [UInt8] = []
      text.append(decimal: Int64(frame.track))
      text.append(UInt8(ascii: ":"))
      text.append(decimal: Int64(frame.sequence))
      if item >= 0 {
        text.append(UInt8(ascii: "."))
        text.append(decimal: Int64(item))
      }
      lastFrame = (frame, item, text)
    }
    if let lastFrame { buffer.append(contentsOf: lastFrame.text) }
  }

  /// In the byte order of their keys.
  private func details(of decision: Decision) -> [DecisionLine.Detail] {
    switch decision.detail {
    case .none: []
    case .reason(let reason): [.init("reason", reason)]
    case .code(let code): [.init("code", code)]
    case .ending(let fate, let node):
      [.init("fate", fate.word), .init("node", nodeIDs[node]), .init("reason", fate.reason)]
    case .from(let frame): [.init("from", Self.text(of: frame))]
    case .items(let count): [.init("items", "\(count)")]
    case .batch(let count): [.init("batch", "\(count)")]
    case .gathered(let items, let failed):
      [.init("failed", "\(failed)"), .init("items", "\(items)")]
    case .parts(let count): [.init("parts", "\(count)")]
    case .ports(let ports): ports.map { .init($0.name, Self.text(of: $0.frame)) }
    case .port(let name): [.init("port", name)]
    case .interval(let nanoseconds): [.init("interval", "\(nanoseconds)")]
    case .waited(let nanoseconds): [.init("nanoseconds", "\(nanoseconds)")]
    case .heat(let state, let temperature):
      [.init("state", state.rawValue), .init("temperature", temperature.description)]
    case .epoch(let epoch): [.init("epoch", "\(epoch)")]
    case .resize(let pool, let resize):
      [
        .init("from", "\(resize.from)"), .init("pool", pool),
        .init("reason", resize.reason.rawValue), .init("to", "\(resize.to)"),
      ]
    case .trip(let pool, let trip):
      [
        .init("pool", pool), .init("requests", "\(trip.requests)"),
        .init("stalls", "\(trip.stalls)"),
      ]
    case .shown(let latency, let repeats, let unseen):
      [
        .init("latency", "\(latency)"), .init("repeats", "\(repeats)"),
        .init("unseen", "\(unseen)"),
      ]
    }
  }

  private static func text(of frame: FrameID?) -> String {
    frame.map { "\($0.track):\($0.sequence)" } ?? "-"
  }

  private func line(of decision: Decision) -> DecisionLine {
    DecisionLine(
      time: decision.time, node: nodeIDs[decision.node], frame: decision.frame,
      item: decision.item >= 0 ? Int(decision.item) : nil, kind: decision.kind,
      details: details(of: decision))
  }
}

extension [UInt8] {
  /// Appends a number in decimal digits.
  package mutating func append(decimal value: Int64) {
    var rest = value.magnitude
    let start = count
    repeat {
      append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    if value < 0 { append(UInt8(ascii: "-")) }
    self[start...].reverse()
  }
}
