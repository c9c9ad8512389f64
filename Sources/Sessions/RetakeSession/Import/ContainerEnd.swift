package import RetakeMedia

/// Detects missing or damaged bytes from a file's own structure, because FFmpeg's demuxers skip
/// them without an error.
package enum ContainerEnd {
  /// Descriptions of the losses; empty if the file is complete, or the container has no such
  /// structure.
  ///
  /// - Parameter packetBytes: The size of the first packet. In Y4M, all packets have this size.
  package static func losses(of file: MediaFile, format: String, packetBytes: Int? = nil)
    -> [String]
  {
    // FFmpeg names some demuxers by a list: `mov,mp4,m4a,3gp,3g2,mj2`, `matroska,webm`.
    switch format.prefix(while: { $0 != "," }) {
    case "mov": movie(file)
    case "matroska": MatroskaStructure(file).losses
    case "avi": riff(file)
    case "ogg": OggStructure.losses(of: file)
    case "mxf": MXFStructure.losses(of: file)
    case "gif": GIFStructure.losses(of: file)
    case "apng": APNGStructure.losses(of: file)
    case "yuv4mpegpipe": ChainedRecords.y4m(file, frameBytes: packetBytes)
    case "ivf": ChainedRecords.ivf(file)
    case "flv", "live_flv": FLVStructure(file).losses
    case "asf": ChainedRecords.asf(file)
    default: []
    }
  }

  /// - Parameter name: The outermost part that is incomplete.
  static func cut(_ name: String, missing: Int64) -> String {
    "the file is cut short: \(missing) bytes of its '\(name)' are missing"
  }

  /// - Parameter holes: Ranges of bytes that are skipped, in the order of the file.
  static func damage(_ holes: [Range<Int64>]) -> String? {
    guard let first = holes.first else { return nil }
    let more =
      switch holes.count {
      case 1: ""
      case 2: "; another such place follows"
      default: "; \(holes.count - 1) more such places follow"
      }
    return "the file is damaged at byte \(first.lowerBound): what is there up to byte "
      + "\(first.upperBound) is not read\(more)"
  }

  /// For a file with another file appended to it.
  static func another(at offset: Int64) -> String {
    "another file begins before byte \(offset): not all of its frames are read"
  }

  /// Fragmented files have two boxes for about every second.
  private static let partCountMax = 1_000_000

  // MARK: MP4 and QuickTime

  private static func movie(_ file: MediaFile) -> [String] {
    var fragments = FragmentSequence(file)
    let end = movieEnd(file, &fragments)
    return [fragments.loss, end].compactMap(\.self)
  }

  private static func movieEnd(
    _ file: MediaFile, _ fragments: inout FragmentSequence
  ) -> String? {
    var offset: Int64 = 0
    var hasMovie = false
    for _ in 0..<partCountMax {
      guard let box = box(in: file, at: offset) else {
        // Zeros to the end of the file are padding, and not the head of a box.
        let isRest = offset < file.size && !isZero(file, from: offset)
        return isRest ? "the file is cut short in the head of the box at byte \(offset)" : nil
      }
      if box.name == "moov" {
        // A file has one `moov`. A second `moov` belongs to an appended file, which FFmpeg does not
        // read.
        if hasMovie { return another(at: offset) }
        hasMovie = true
      }
      let isKnown = MovieBoxes.topLevelNames.contains(box.name)
      // The box extends to the end of the file, or zeros pad the file after the last box. Zeros
      // before another box are a hole.
      if box.size == 0, isKnown || isZero(file, from: offset) { return nil }
      let (end, overflow) = offset.addingReportingOverflow(box.size)
      // An unknown box name with an end after the file's end is garbage. Calling it cut would ask
      // the user to look for bytes that never existed.
      if box.size < 8 || overflow || (end > file.size && !isKnown) {
        return "the file is damaged: the box at byte \(offset) cannot be read"
      }
      if end > file.size { return cut(box.name, missing: end - file.size) }
      if box.name == "moov" { fragments.take(movie: offset + box.headBytes..<end) }
      if box.name == "moof" { fragments.take(fragment: offset + box.headBytes..<end) }
      offset = end
    }
    return nil
  }

  private struct Box {
    var size: Int64
    var name: String
    var headBytes: Int64 = 8
  }

  private static func box(in file: MediaFile, at offset: Int64) -> Box? {
    guard let head = try? file.bytes(16, at: offset), head.count >= 8 else { return nil }
    let name = String(decoding: head[4..<8], as: UTF8.self)
    let size = number(head[..<4])
    // A size of 1 says that the true one follows in 64 bits (ISO/IEC 14496-12, 4.2).
    guard size == 1 else { return Box(size: size, name: name) }
    guard head.count == 16 else { return nil }
    let long = number(head[8...])
    return Box(size: long < 16 ? 0 : long, name: name, headBytes: 16)
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    // A size above Int64.max becomes negative, and the caller refuses sizes below 8.
    Int64(truncatingIfNeeded: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  private static let pageBytes = 1 << 16

  static func isZero(_ file: MediaFile, from start: Int64) -> Bool {
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
      // The size that a writer leaves if it cannot seek back.
      guard size > 0, size < 0xFFFF_FFF0 else { break }
      let end = offset + 8 + size
      // Only the first part has an `idx1`.
      if offset == 0, let damage = AVIStructure.damage(of: file, end: end) { losses.append(damage) }
      // The last part may lack the padding byte that makes its length even.
      if end > file.size + 1 {
        losses.append(cut("RIFF", missing: end - file.size))
        break
      }
      offset = end + (end & 1)
    }
    return losses
  }
}
