/// Collects the lines of a request up to the empty line after its headers.
///
/// Each byte is scanned once, and a head has a bound, so a long line costs little time.
struct RequestHead {
  /// A browser sends less than a tenth of it.
  static let bytesMax = 1 << 14

  struct TooLong: Error {}
  struct Malformed: Error {}

  /// Received bytes that are not part of an earlier head.
  private var bytes: [UInt8] = []
  private var scanned = 0
  private var lineStart = 0
  private var lines: [String] = []

  mutating func add(_ more: [UInt8]) { bytes += more }

  /// The lines of the head, as soon as all of it was added; `nil` before.
  ///
  /// - Throws: `TooLong` for a head of more than `bytesMax` bytes, `Malformed` for one without a
  ///   line.
  mutating func take() throws -> [String]? {
    while scanned < bytes.count {
      guard scanned < Self.bytesMax else { throw TooLong() }
      scanned += 1
      guard bytes[scanned - 1] == UInt8(ascii: "\n") else { continue }
      var line = bytes[lineStart..<scanned - 1]
      if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
      lineStart = scanned
      guard line.isEmpty else {
        lines.append(String(decoding: line, as: UTF8.self))
        continue
      }
      guard !lines.isEmpty else { throw Malformed() }
      return finish()
    }
    guard scanned < Self.bytesMax else { throw TooLong() }
    return nil
  }

  /// Bytes that came after the head, at most this many.
  mutating func takeBody(_ count: Int) -> [UInt8] {
    let body = Array(bytes.prefix(count))
    bytes.removeFirst(body.count)
    return body
  }

  private mutating func finish() -> [String] {
    bytes.removeFirst(scanned)
    let done = lines
    (scanned, lineStart, lines) = (0, 0, [])
    return done
  }
}
