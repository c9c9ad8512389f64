import RetakeMedia

/// What a file's own structure says about bytes that are missing or damaged, which FFmpeg's
/// demuxers pass in silence.
enum ContainerEnd {
  /// In words what is missing; empty where nothing is, and for containers without such a structure.
  static func losses(of file: MediaFile, format: String) -> [String] {
    let names = format.split(separator: ",")
    if names.contains("mov") { return movie(file).map { [$0] } ?? [] }
    if names.contains("matroska") { return MatroskaStructure.losses(of: file) }
    if names.contains("avi") { return riff(file) }
    return []
  }

  /// - Parameter name: Of the outermost part that is not all there.
  static func cut(_ name: String, missing: Int64) -> String {
    "the file is cut short: \(missing) bytes of its '\(name)' are missing"
  }

  /// Of a file that was put behind another one.
  static func another(at offset: Int64) -> String {
    "another file begins before byte \(offset): not all of its frames are read"
  }

  /// Fragmented files have two boxes for every second or so.
  private static let partCountMax = 1_000_000

  // MARK: MP4 and QuickTime

  private static func movie(_ file: MediaFile) -> String? {
    var offset: Int64 = 0
    var hasMovie = false
    for _ in 0..<partCountMax {
      guard let box = box(in: file, at: offset) else {
        let isRest = offset < file.size && !isZero(file, from: offset)
        return isRest ? "the file is cut short in the head of the box at byte \(offset)" : nil
      }
      if box.name == "moov" {
        if hasMovie { return another(at: offset) }
        hasMovie = true
      }
      let isKnown = boxNames.contains(box.name)
      // The box goes to the end of the file; or zeros fill the file up behind the last box, where
      // zeros before another box are a hole.
      if box.size == 0, isKnown || isZero(file, from: offset) { return nil }
      let (end, overflow) = offset.addingReportingOverflow(box.size)
      if box.size < 8 || overflow || (end > file.size && !isKnown) {
        return "the file is damaged: the box at byte \(offset) cannot be read"
      }
      if end > file.size { return cut(box.name, missing: end - file.size) }
      offset = end
    }
    return nil
  }

  /// Those that are outermost in real files.
  private static let boxNames: Set<String> = [
    "bloc", "emsg", "free", "ftyp", "idat", "mdat", "meta", "mfra", "moof", "moov", "pdin", "pnot",
    "prft", "sidx", "skip", "ssix", "styp", "udta", "uuid", "wide",
  ]

  private static func box(in file: MediaFile, at offset: Int64) -> (size: Int64, name: String)? {
    guard let head = try? file.bytes(16, at: offset), head.count >= 8 else { return nil }
    let name = String(decoding: head[4..<8], as: UTF8.self)
    let size = number(head[..<4])
    guard size == 1 else { return (size, name) }
    return head.count == 16 ? (number(head[8...]), name) : nil
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    Int64(truncatingIfNeeded: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  private static let pageBytes = 1 << 16

  private static func isZero(_ file: MediaFile, from start: Int64) -> Bool {
    var offset = start
    // Ends: each page is not empty.
    while offset < file.size {
      guard let page = try? file.bytes(pageBytes, at: offset), !page.isEmpty else { return false }
      guard page.allSatisfy({ $0 == 0 }) else { return false }
      offset += Int64(page.count)
    }
    return true
  }

  // MARK: AVI

  private static func riff(_ file: MediaFile) -> [String] {
    var losses: [String] = []
    var offset: Int64 = 0
    for _ in 0..<partCountMax {
      guard let head = try? file.bytes(8, at: offset), head.count == 8,
        head[..<4] == Array("RIFF".utf8)[...]
      else { break }
      let size = AVIStructure.number(head[4...])
      // What a writer leaves there that cannot go back.
      guard size > 0, size < 0xFFFF_FFF0 else { break }
      let end = offset + 8 + size
      if offset == 0, let damage = AVIStructure.damage(of: file, end: end) { losses.append(damage) }
      // The last part may lack the byte that makes its length even.
      if end > file.size + 1 {
        losses.append(cut("RIFF", missing: end - file.size))
        break
      }
      offset = end + (end & 1)
    }
    return losses
  }
}
