import Foundation
package import RetakeCore
import RetakeProcess
import RetakeRuntime

/// Messages on a socket: a length of four bytes, little-endian, then JSON.
///
/// One thread at a time uses it. Each call returns before its deadline on the monotonic clock, to
/// which the time is added that the program has waited for a processor.
package final class MessageChannel {
  /// The largest message of a program, without the bytes of its length: an image has up to 24 MiB,
  /// and base64 adds a third.
  static let bytesMax = 32 << 20
  /// The largest message to a program.
  static let sentBytesMax = 4 << 20
  /// The deepest nesting of a message.
  static let depthMax = 64
  private static let headerBytes = 4

  private let socket: ChildSocket
  private let clock = WallClock()
  /// Called about five times a second while it waits; a wait ends when it throws.
  var whileWaiting: ((_ waitedNanoseconds: Int64) throws(ForeignFailure) -> Void)?
  /// How long the program has waited for a processor since its start: on a machine under load it
  /// is not late for that.
  var starvedNanoseconds: (() -> Int64)?
  /// This time when half of the time before a deadline had passed; 0 for the first deadline.
  private var starved: (beginNanoseconds: Int64, nanoseconds: Int64)?
  /// Received, and not yet part of a message that was returned.
  private var received: [UInt8] = []
  /// Of all messages that were returned.
  private(set) var takenBytes = 0
  private var piece = [UInt8](repeating: 0, count: 1 << 16)

  init(_ socket: ChildSocket) { self.socket = socket }

  /// The deadline of an operation with this time limit from now.
  func deadline(seconds: Double) -> Deadline {
    let now = clock.monotonicNanoseconds
    return Deadline(
      beginNanoseconds: now, nanoseconds: now + Int64(seconds * 1e9), seconds: seconds)
  }

  /// - Parameter attachment: Bytes that follow the message.
  /// - Throws: `.late`, `.closed`.
  func send(
    _ json: String, _ attachment: [UInt8] = [], before deadline: Deadline
  ) throws(ForeignFailure) {
    var bytes = [UInt8]()
    bytes.reserveCapacity(Self.headerBytes + json.utf8.count)
    let count = UInt32(json.utf8.count)
    for shift: UInt32 in [0, 8, 16, 24] {
      bytes.append(UInt8(truncatingIfNeeded: count >> shift))
    }
    bytes.append(contentsOf: json.utf8)
    try push(bytes, before: deadline)
    // In pieces, because the bytes that could not be pushed are moved.
    for start in stride(from: 0, to: attachment.count, by: Self.pieceBytes) {
      let end = min(start + Self.pieceBytes, attachment.count)
      try push(Array(attachment[start..<end]), before: deadline)
    }
  }

  private static let pieceBytes = 1 << 16

  private func push(_ bytes: [UInt8], before deadline: Deadline) throws(ForeignFailure) {
    var bytes = bytes
    // Bounded by the deadline.
    while !bytes.isEmpty {
      switch socket.push(bytes) {
      case .moved(let count) where count == bytes.count: return
      case .moved(let count): bytes.removeFirst(count)
      case .closed: throw .closed
      case .notNow: try wait(.toPush, before: deadline)
      }
    }
  }

  /// The next message.
  ///
  /// - Throws: `.late`, `.closed`, `.garbage`, `.tooLong`.
  func receive(before deadline: Deadline) throws(ForeignFailure) -> JSONValue {
    // Bounded by the deadline, and by the size of a message.
    while true {
      if let message = try takeMessage() { return message }
      // First: an answer is hardly ever there at once. A program that sends without an end is
      // stopped here, too.
      try wait(.toPull, before: deadline)
      switch socket.pull(into: &piece) {
      case .moved(let count): received.append(contentsOf: piece[..<count])
      case .closed: throw .closed
      case .notNow: break
      }
    }
  }

  /// Waits at most a part of a second.
  private func wait(
    _ direction: ChildSocket.Direction, before deadline: Deadline
  ) throws(ForeignFailure) {
    let now = clock.monotonicNanoseconds
    var rest = deadline.nanoseconds - now
    let half = (deadline.nanoseconds - deadline.beginNanoseconds) / 2
    if starved == nil {
      starved = (deadline.beginNanoseconds, 0)
    } else if rest < half, starved?.beginNanoseconds != deadline.beginNanoseconds {
      starved = (deadline.beginNanoseconds, starvedNanoseconds?() ?? 0)
    }
    if rest <= 0, let starved, let starvedNanoseconds {
      rest += starvedNanoseconds() - starved.nanoseconds
    }
    guard rest > 0 else { throw .late(seconds: deadline.seconds) }
    try whileWaiting?(now - deadline.beginNanoseconds)
    // Rounded up, so that the last wait is not repeated many times.
    socket.wait(
      direction, milliseconds: Int32(min(rest, Self.sliceNanoseconds) + 999_999) / 1_000_000)
  }

  private static let sliceNanoseconds: Int64 = 200_000_000

  /// A message that is already there; `nil` if there is no message.
  ///
  /// - Throws: `.garbage`, `.tooLong`.
  func receiveAtOnce() throws(ForeignFailure) -> JSONValue? {
    if let message = try takeMessage() { return message }
    guard case .moved(let count) = socket.pull(into: &piece) else { return nil }
    received.append(contentsOf: piece[..<count])
    return try takeMessage()
  }

  private func takeMessage() throws(ForeignFailure) -> JSONValue? {
    guard received.count >= Self.headerBytes else { return nil }
    let count = (0..<Self.headerBytes).reduce(0) { $0 | Int(received[$1]) << (8 * $1) }
    guard count <= Self.bytesMax else { throw .tooLong(bytes: count) }
    guard received.count >= Self.headerBytes + count else { return nil }
    let body = received[Self.headerBytes..<Self.headerBytes + count]
    let message = try Self.parse(body)
    received.removeFirst(Self.headerBytes + count)
    takenBytes += count
    return message
  }

  /// Reads the JSON of a message.
  ///
  /// - Throws: `.garbage`.
  package static func parse(_ body: ArraySlice<UInt8>) throws(ForeignFailure) -> JSONValue {
    let message: JSONValue
    do {
      message = try JSONValue(parsing: Data(body))
    } catch {
      // Many languages write numbers that JSON does not have.
      let text = String(decoding: body, as: UTF8.self)
      let hint =
        text.contains("NaN") || text.contains("Infinity") ? " (JSON has no NaN or Infinity)" : ""
      throw .garbage(
        String(((error as? DecodingError)?.shortText ?? "\(error)").prefix(200)) + hint)
    }
    guard message.isNested(atMost: depthMax) else {
      throw .garbage("nested more than \(depthMax) deep")
    }
    return message
  }
}

/// When something is late.
struct Deadline {
  /// When the time began, on the monotonic clock.
  var beginNanoseconds: Int64
  /// On the monotonic clock.
  var nanoseconds: Int64
  /// The time that there was, for messages.
  var seconds: Double
}

extension JSONValue {
  /// Whether arrays and objects are at most that deep in each other.
  func isNested(atMost depth: Int) -> Bool {
    switch self {
    case .array(let values): depth > 0 && values.allSatisfy { $0.isNested(atMost: depth - 1) }
    case .object(let members):
      depth > 0 && members.values.allSatisfy { $0.isNested(atMost: depth - 1) }
    default: true
    }
  }
}
