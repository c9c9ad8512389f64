import RetakeMedia

/// Whether a file ends before its container says that it does.
enum ContainerEnd {
  /// In words what is missing, or nil. Known for MP4 and QuickTime, whose boxes give their sizes;
  /// in other containers the demuxer's errors tell.
  static func cut(of file: MediaFile, format: String) -> String? {
    guard format.split(separator: ",").contains("mov") else { return nil }
    var offset: Int64 = 0
    for _ in 0..<boxCountMax where offset + 8 <= file.size {
      guard let box = box(in: file, at: offset), box.size > 0 else { return nil }
      let (end, overflow) = offset.addingReportingOverflow(box.size)
      if overflow || end > file.size {
        let missing = overflow ? "many" : String(end - file.size)
        return "the file is cut short: \(missing) bytes of its '\(box.name)' are missing"
      }
      offset = end
    }
    return nil
  }

  /// Fragmented files have two boxes for every second or so.
  private static let boxCountMax = 1_000_000

  /// Size 0 means "to the end of the file".
  private static func box(in file: MediaFile, at offset: Int64) -> (size: Int64, name: String)? {
    guard let head = bytes(of: file, at: offset, count: 8) else { return nil }
    let name = String(decoding: head[4...], as: UTF8.self)
    let size = number(head[..<4])
    guard size == 1 else { return (size, name) }
    guard let large = bytes(of: file, at: offset + 8, count: 8) else { return nil }
    return (number(large[...]), name)
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    Int64(truncatingIfNeeded: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  private static func bytes(of file: MediaFile, at offset: Int64, count: Int) -> [UInt8]? {
    guard offset + Int64(count) <= file.size else { return nil }
    let packet = try? file.packet(
      index: 0, pts: nil, dts: nil, flags: [], offset: offset, size: count)
    return packet?.bytes
  }
}
