/// The sample descriptions of the tracks of an MP4 or QuickTime file.
///
/// A track may have several descriptions, such as one for clear samples at its beginning and one
/// for encrypted samples. libavformat uses the first and silently skips the samples of all others.
struct SampleDescriptions {
  /// The four characters of each description, by track in the file's order.
  private(set) var tracks: [[String]] = []

  private let file: MediaFile

  /// Maximum number of descriptions of one track.
  private static let descriptionCountMax = 64

  init(of file: MediaFile) throws {
    self.file = file
    guard let movie = try MovieBoxes.first("moov", of: file, in: 0..<file.size) else { return }
    try MovieBoxes.eachBox(of: file, in: movie) { (name, track) in
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

  /// Whether a track has encrypted samples.
  var isEncrypted: Bool { tracks.contains { $0.contains("encv") } }

  private func descriptions(ofTrack track: Range<Int64>) throws -> [String] {
    var place = track
    for name in ["mdia", "minf", "stbl", "stsd"] {
      guard let inner = try MovieBoxes.first(name, of: file, in: place) else { return [] }
      place = inner
    }
    var names: [String] = []
    // After version, flags and the number of descriptions.
    try MovieBoxes.eachBox(
      of: file, in: min(place.lowerBound + 8, place.upperBound)..<place.upperBound
    ) {
      (name, _) in
      names.append(name)
      return names.count < Self.descriptionCountMax
    }
    return names
  }
}
