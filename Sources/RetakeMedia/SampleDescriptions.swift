/// The sample descriptions of the tracks of an MP4 or QuickTime file.
///
/// A track may have several descriptions, such as one for clear samples at its beginning and one
/// for encrypted samples. libavformat uses the first and silently skips the samples of all others.
struct SampleDescriptions {
  /// The four characters of each description, by track in the file's order.
  private(set) var tracks: [[String]] = []

  private let file: MediaFile

  /// Maximum number of sibling boxes; fragmented files have two for about every second.
  private static let boxCountMax = 1_000_000
  /// Maximum number of descriptions of one track.
  private static let descriptionCountMax = 64

  init(of file: MediaFile) throws(MediaError) {
    self.file = file
    guard let movie = try first("moov", in: 0..<file.size) else { return }
    try eachBox(in: movie) { (name, track) throws(MediaError) in
      if name == "trak" { tracks.append(try descriptions(ofTrack: track)) }
      return true
    }
  }

  /// Whether a track has both encrypted and clear samples, so that some are skipped.
  func mixesEncryption(track: Int) -> Bool {
    guard tracks.indices.contains(track) else { return false }
    // `encv` is the sample entry of encrypted video (ISO/IEC 14496-12, 8.12).
    return tracks[track].count > 1 && tracks[track].contains("encv")
  }

  private func descriptions(ofTrack track: Range<Int64>) throws(MediaError) -> [String] {
    var place = track
    for name in ["mdia", "minf", "stbl", "stsd"] {
      guard let inner = try first(name, in: place) else { return [] }
      place = inner
    }
    var names: [String] = []
    // After version, flags and the number of descriptions.
    try eachBox(in: min(place.lowerBound + 8, place.upperBound)..<place.upperBound) {
      (name, _) throws(MediaError) in
      names.append(name)
      return names.count < Self.descriptionCountMax
    }
    return names
  }

  private func first(
    _ wanted: String, in range: Range<Int64>
  ) throws(MediaError) -> Range<Int64>? {
    var found: Range<Int64>?
    try eachBox(in: range) { (name, content) throws(MediaError) in
      if name == wanted { found = content }
      return found == nil
    }
    return found
  }

  /// Calls `body` with the name and the content range of each box, until it returns `false`.
  private func eachBox(
    in range: Range<Int64>, _ body: (String, Range<Int64>) throws(MediaError) -> Bool
  ) throws(MediaError) {
    var offset = range.lowerBound
    for _ in 0..<Self.boxCountMax {
      guard offset + 8 <= range.upperBound else { return }
      let head = try file.bytes(16, at: offset)
      guard head.count >= 8 else { return }
      var (size, headBytes) = (Self.number(head[..<4]), Int64(8))
      if size == 1, head.count == 16 { (size, headBytes) = (Self.number(head[8...]), 16) }
      // 0: the box extends to the end (ISO/IEC 14496-12, 4.2).
      if size == 0 { size = range.upperBound - offset }
      // A box that does not fit into its parent is damage. What was found before it still counts.
      guard size >= headBytes, size <= range.upperBound - offset else { return }
      let name = String(decoding: head[4..<8], as: UTF8.self)
      guard try body(name, offset + headBytes..<offset + size) else { return }
      offset += size
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    Int64(truncatingIfNeeded: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}
