/// The header of a regular file in a tar archive (POSIX.1-1988, ustar).
///
/// Owner, permissions and time are fixed, so equal files have equal headers.
struct TarHeader: Hashable {
  /// The size of a header, and the unit of the content after it.
  static let blockBytes = 512

  /// The session's name, in the header's prefix.
  var folder: String
  /// The file's path in the session's folder.
  var path: String
  var size: Int64

  init(folder: String, path: String, size: Int64) {
    (self.folder, self.path, self.size) = (folder, path, size)
  }

  /// - Returns: nil for each other block: links, devices, folders, extended headers, other owners,
  ///   permissions or times, a wrong checksum.
  init?(_ block: [UInt8]) {
    guard block.count == Self.blockBytes else { return nil }
    func text(_ field: Range<Int>) -> String {
      String(decoding: block[field].prefix { $0 != 0 }, as: UTF8.self)
    }
    let isBinary = block[Self.sizeField.lowerBound] & 0x80 != 0
    let size =
      isBinary
      ? Int64(bitPattern: block[128..<136].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
      : Int64(text(Self.sizeField), radix: 8)
    guard let size, size >= 0 else { return nil }
    self.init(folder: text(Self.prefixField), path: text(Self.nameField), size: size)
    // One comparison covers each field that is not read above.
    guard self.block == block else { return nil }
  }

  /// A name that is too long for its field is cut, and no reader accepts it then.
  var block: [UInt8] {
    var block = [UInt8](repeating: 0, count: Self.blockBytes)
    func put(_ bytes: some Sequence<UInt8>, _ field: Range<Int>) {
      for (place, byte) in zip(field, bytes) { block[place] = byte }
    }
    put(path.utf8, Self.nameField)
    put("0000644\0".utf8, 100..<108)
    put("0000000\0".utf8, 108..<116)
    put("0000000\0".utf8, 116..<124)
    put(sizeBytes, Self.sizeField)
    // 1980-01-01: an earlier time makes tar warn.
    put("02263523000\0".utf8, 136..<148)
    put("0".utf8, 156..<157)
    put("ustar\0".utf8, 257..<263)
    put("00".utf8, 263..<265)
    put("0000000\0".utf8, 329..<337)
    put("0000000\0".utf8, 337..<345)
    put(folder.utf8, Self.prefixField)
    // The checksum counts its own field as spaces.
    let sum = block.reduce(8 * 0x20) { $0 + Int($1) }
    put(Self.octal(Int64(sum), digits: 6).utf8 + [0, 0x20], 148..<156)
    return block
  }

  /// Octal, or as GNU tar writes files of 8 GiB and more: big-endian after a byte 0x80.
  private var sizeBytes: [UInt8] {
    guard size >= 1 << 33 else { return Array(Self.octal(size, digits: 11).utf8) + [0] }
    return [0x80, 0, 0, 0]
      + (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * Int64($0))) }
  }

  private static func octal(_ value: Int64, digits: Int) -> String {
    let text = String(value, radix: 8)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }

  private static let nameField = 0..<100
  private static let sizeField = 124..<136
  private static let prefixField = 345..<500

  /// The zeros after content of this size, up to the next block.
  static func padding(after size: Int64) -> Int {
    let rest = Int(size % Int64(blockBytes))
    return rest == 0 ? 0 : blockBytes - rest
  }
}
