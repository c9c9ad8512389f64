import RetakeCore
import RetakeMedia
import RetakeStore

/// Decodes the frames of a track from their entries and compares their pixels with the stored
/// digests.
///
/// Replay may begin decoding at any entry. Decoding in order would not show a wrong entry: the
/// decoder then already has the images before it. A recording that was never closed has no entries,
/// and replay decodes it in order; so does the check.
final class EntryCheck {
  /// A frame that the session calls good.
  struct Frame {
    var id: FrameID
    var picture: FrameRun.Picture
    var hasEntry: Bool
  }

  private let reader: SessionReader
  private let track: Int
  /// The decoder of the frames with one entry.
  private var run: FrameRun?
  private var entry = -1

  private static let pageRows = 1_024

  init(reader: SessionReader, track: Int) {
    (self.reader, self.track) = (reader, track)
  }

  /// The frames with pixels in the order in which `decode` takes them: by entry, then by sequence.
  func frames(except failing: Set<FrameID>) throws -> [Frame] {
    var frames: [Frame] = []
    var next = 0
    // By rows and not by number: where rows are missing, the last frames have higher numbers than
    // the track has rows.
    while true {
      let page = try fromStore {
        try reader.index.store.frames(track: track, from: next, count: Self.pageRows)
      }
      guard let last = page.last else { break }
      next = last.sequence + 1
      for row in page where row.cause == nil && row.packet != nil {
        let id = FrameID(track: track, sequence: row.sequence)
        guard !failing.contains(id) else { continue }
        frames.append(
          Frame(
            id: id, picture: try reader.picture(of: row, id: id), hasEntry: row.entry != nil))
      }
    }
    return frames.sorted {
      ($0.picture.entry, $0.id.sequence) < ($1.picture.entry, $1.id.sequence)
    }
  }

  /// Decodes one frame with a decoder that began at the frame's entry.
  ///
  /// - Throws: `SessionError.pixelMismatch`, `.undecodable`, `.mediaMismatch`, or a lack of memory.
  func decode(_ frame: Frame) throws {
    guard frame.hasEntry else {
      _ = try reader.pixels(of: frame.id)
      return
    }
    let bytes = reader.frameBytes(of: track)
    try reader.pool.withRoom(track: track, frameBytes: bytes) {
      try reader.namingDamage { try compare(frame) }
    }
  }

  private func compare(_ frame: Frame) throws {
    let record = try reader.index.frame(frame.id)
    if frame.picture.entry != entry { run = nil }
    entry = frame.picture.entry
    let run = run ?? reader.makeRun(from: entry, of: track)
    // After a failure the decoder has passed the next frames of the entry, too.
    self.run = nil
    guard let decoded = try run.decode(frame.picture, id: frame.id) else {
      throw reader.noFrame(frame.picture, of: frame.id)
    }
    if !run.isSpent { self.run = run }
    guard let hash = record?.pixelHash else { return }
    guard decoded.frame.pixelDigest == hash else {
      throw SessionError.pixelMismatch(session: reader.folder.path, frame: frame.id)
    }
  }
}
