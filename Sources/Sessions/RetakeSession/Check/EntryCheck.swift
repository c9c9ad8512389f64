import RetakeBuffers
import RetakeCore

/// Decodes the frames of a track from their entries and compares their pixels with the stored
/// digests.
///
/// Replay may begin decoding at any entry. Decoding in order would not show a wrong entry: the
/// decoder then already has the images before it. A recording that was never closed has no entries,
/// and replay decodes it in order; so does the check.
final class EntryCheck {
  /// A frame that the session calls good.
  struct Candidate {
    var id: FrameID
    var picture: FrameRun.Picture
    var hasEntry: Bool
    /// The stored digest of the pixels, if the session has one.
    var hash: Digest128?
  }

  private let reader: SessionReader
  private let track: Int
  /// The decoder of the frames with one entry.
  private var run: (any PictureRun)?
  private var entry = -1

  init(reader: SessionReader, track: Int) {
    (self.reader, self.track) = (reader, track)
  }

  /// The frames with pixels in the order in which `decode` needs them: by entry, then by sequence.
  func frames(except failing: Set<FrameID>) throws -> [Candidate] {
    var frames: [Candidate] = []
    try DamagedFrames(reader: reader).each(of: track) { row in
      let id = FrameID(track: track, sequence: row.sequence)
      guard row.cause == nil, row.packet != nil, !failing.contains(id) else { return }
      frames.append(
        Candidate(
          id: id, picture: try reader.picture(of: row, id: id), hasEntry: row.entry != nil,
          hash: row.pixelHash))
    }
    return frames.sorted {
      ($0.picture.entry, $0.id.sequence) < ($1.picture.entry, $1.id.sequence)
    }
  }

  /// Decodes one frame with a decoder that began at the frame's entry.
  ///
  /// - Throws: `SessionError.pixelMismatch`, `.undecodable`, `.mediaMismatch`, or a lack of memory.
  func decode(_ frame: Candidate) throws {
    guard frame.hasEntry else {
      _ = try reader.pixels(of: frame.id)
      return
    }
    let bytes = reader.frameBytes(of: track)
    try reader.pool.withRoom(track: track, frameBytes: bytes) {
      try reader.namingDamage { try compare(frame) }
    }
  }

  private func compare(_ frame: Candidate) throws {
    if frame.picture.entry == entry, let run, !run.position.isSpent,
      let decoded = try run.decode(frame.picture, id: frame.id)
    {
      return try require(frame.hash, of: decoded, frame.id)
    }
    // The decoder of the entry may have passed the frame, because frames that were encoded in
    // another order than they are shown may share an entry.
    let fresh = try reader.makeRun(from: frame.picture.entry, of: track)
    (run, entry) = (fresh, frame.picture.entry)
    guard let decoded = try fresh.decode(frame.picture, id: frame.id) else {
      run = nil
      throw reader.noFrame(frame.picture, of: frame.id)
    }
    try require(frame.hash, of: decoded, frame.id)
  }

  private func require(_ hash: Digest128?, of image: Frame, _ id: FrameID) throws {
    guard let hash, image.pixelDigest != hash else { return }
    throw SessionError.pixelMismatch(session: reader.folder.path, frame: id)
  }
}
