import RetakeCore

/// The kinds of decisions that this engine makes, as their lines say them.
package enum DecisionKind: String, Sendable, CaseIterable {
  case lost
  case drop
  case supersede
  case thin
  case fail
  case block
  case unblock
  case start
  case done
  case deliver
  case outcome
  case halt
}

/// One decision in numbers; turned into text only where it is digested, written or shown.
package struct Decision: Hashable, Sendable {
  package enum Detail: Hashable, Sendable {
    case none
    case reason(String)
    case code(String)
    case ending(FrameFate, node: Int)
  }

  package var time: Int64
  package var node: Int
  package var frame: FrameID
  package var kind: DecisionKind
  package var detail: Detail
}

/// Writes decisions as lines, digests all of them, and hands the lines on to whoever asked.
package struct DecisionLog: ~Copyable {
  /// Bytes gathered before they are digested together.
  private static let batchBytes = 16_384

  private let nodeIDs: [String]
  private let observer: ((DecisionLine) -> Void)?
  private var hasher = DigestHasher()
  private var buffer: [UInt8] = []
  package private(set) var count = 0

  package init(nodeIDs: [String], observer: ((DecisionLine) -> Void)?) {
    self.nodeIDs = nodeIDs
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
    buffer.append(UInt8(ascii: "@"))
    buffer.append(decimal: decision.time)
    buffer.append(UInt8(ascii: " "))
    buffer.append(contentsOf: nodeIDs[decision.node].utf8)
    buffer.append(UInt8(ascii: " "))
    buffer.append(decimal: Int64(decision.frame.track))
    buffer.append(UInt8(ascii: ":"))
    buffer.append(decimal: Int64(decision.frame.sequence))
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

  /// In the byte order of their keys.
  private func details(of decision: Decision) -> [DecisionLine.Detail] {
    switch decision.detail {
    case .none: []
    case .reason(let reason): [.init("reason", reason)]
    case .code(let code): [.init("code", code)]
    case .ending(let fate, let node):
      [.init("fate", fate.word), .init("node", nodeIDs[node]), .init("reason", fate.reason)]
    }
  }

  private func line(of decision: Decision) -> DecisionLine {
    DecisionLine(
      time: decision.time, node: nodeIDs[decision.node], frame: decision.frame,
      kind: decision.kind.rawValue, details: details(of: decision))
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
