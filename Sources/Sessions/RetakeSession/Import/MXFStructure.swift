import RetakeMedia

/// Walks the packets of keys, lengths and values of an MXF file (SMPTE ST 377-1), and finds where
/// it ends before the footer that its header names, or is damaged.
struct MXFStructure {
  private let file: MediaFile

  /// The first bytes of every key (SMPTE ST 336).
  private static let label: [UInt8] = [0x06, 0x0E, 0x2B, 0x34]
  /// The key of a partition pack up to the byte of its kind: 2 is a header, 4 a footer.
  private static let partition: [UInt8] = [
    0x06, 0x0E, 0x2B, 0x34, 0x02, 0x05, 0x01, 0x01, 0x0D, 0x01, 0x02, 0x01, 0x01,
  ]
  /// A file may begin with as many other bytes (ST 377-1, 6.5).
  private static let runInBytesMax = 65_536
  /// More than a day of frames with many tracks has.
  private static let packetCountMax = 100_000_000

  static func losses(of file: MediaFile) -> [String] {
    let walk = MXFStructure(file: file)
    guard let start = walk.header else { return [] }
    return walk.cut(from: start).map { [$0] } ?? walk.damage(from: start).map { [$0] } ?? []
  }

  private var header: Int64? {
    let bytes = try? file.bytes(Self.runInBytesMax + Self.partition.count + 1)
    guard let place = bytes?.firstPlace(of: Self.partition + [2]) else { return nil }
    return Int64(place)
  }

  /// The header of a file that was closed names the place of the footer.
  private func cut(from start: Int64) -> String? {
    guard let pack = packet(at: start), pack.isWhole,
      let value = try? file.bytes(32, at: pack.start),
      value.count == 32
    else { return nil }
    // After two version numbers, the size of the grid, this and the previous partition.
    let footer = Int64(
      truncatingIfNeeded: value[24..<32].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    guard footer > 0, start + footer > file.size - 16 else { return nil }
    return "the file is cut short: its header names a footer at byte \(start + footer), and the "
      + "file has \(file.size) bytes"
  }

  private func damage(from start: Int64) -> String? {
    var offset = start
    for _ in 0..<Self.packetCountMax {
      guard offset < file.size else { return nil }
      guard let packet = packet(at: offset) else {
        // Zeros to the end of the file only fill it.
        return ContainerEnd.isZero(file, from: offset)
          ? nil : "the file is damaged: what is at byte \(offset) cannot be read"
      }
      guard packet.isWhole else {
        return ContainerEnd.cut("packet", missing: packet.end - file.size)
      }
      offset = packet.end
    }
    return nil
  }

  private struct Packet {
    var start: Int64
    var end: Int64
    var isWhole: Bool
  }

  /// Nil if no packet begins here.
  private func packet(at offset: Int64) -> Packet? {
    // A key of 16 bytes, then a length of one byte, or of as many as that byte says.
    guard let bytes = try? file.bytes(25, at: offset), bytes.count >= 17,
      bytes.starts(with: Self.label)
    else { return nil }
    let count = bytes[16] < 0x80 ? 0 : Int(bytes[16] & 0x7F)
    guard count <= 8, bytes.count >= 17 + count else { return nil }
    let length =
      count == 0
      ? Int64(bytes[16])
      : Int64(truncatingIfNeeded: bytes[17..<17 + count].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    let start = offset + 17 + Int64(count)
    let (end, overflow) = start.addingReportingOverflow(length)
    guard length >= 0, !overflow else { return nil }
    return Packet(start: start, end: end, isWhole: end <= file.size)
  }
}
