import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeSession

/// Estimates the size of a replay copy; it rather overestimates.
struct OptimizeNeed {
  let bytes: Int64
  let originalBytes: Int64

  /// Number of frames that are encoded for the estimate.
  private static let samples = 8
  /// Overhead of each packet in the container and in the index.
  private static let packetBytes: Int64 = 512
  private static let spareBytes: Int64 = 4 << 20

  init(reader: SessionReader, encoding: ReplayEncoding) throws {
    originalBytes = SessionBuilder.byteCount(ofFolder: reader.folder.path)
    let database = SessionBuilder.byteCount(reader.folder.database) ?? 0
    var bytes = 2 * database + Self.spareBytes
    for track in reader.tracks {
      let counts = try reader.index.store.counts(track: track.track)
      let each =
        encoding.name == ReplayEncoding.raw.name
        ? Self.pictureBytes(reader, track.track)
        : try Self.sampledBytes(reader, track, encoding)
      bytes += Int64(counts.frames - counts.shed) * (each + Self.packetBytes)
    }
    self.bytes = bytes
  }

  /// Size of the track's largest image.
  private static func pictureBytes(_ reader: SessionReader, _ track: Int) -> Int64 {
    (reader.index.parts[track] ?? [:]).values.map { part in
      guard let format = PixelFormat(ffmpegName: part.pixelFormat) else { return 0 }
      return Int64(format.visibleBytes(width: part.width, height: part.height))
    }.max() ?? 0
  }

  /// Estimated size of a frame, from key frames encoded from all over the track.
  private static func sampledBytes(
    _ reader: SessionReader, _ track: TrackDescription, _ encoding: ReplayEncoding
  ) throws -> Int64 {
    let step = max(1, track.frameCount / samples)
    var largest: Int64 = 0
    var (total, count): (Int64, Int64) = (0, 0)
    for sequence in stride(from: 0, to: track.frameCount, by: step).prefix(samples) {
      let id = FrameID(track: track.track, sequence: sequence)
      guard let record = try reader.index.frame(id), record.packet != nil, record.cause == nil,
        // A frame that cannot be read is omitted here; making the copy reports it.
        let frame = try? reader.frame(id)
      else { continue }
      let size = try bytes(of: frame, encoding)
      (total, count, largest) = (total + size, count + 1, max(largest, size))
    }
    // Above the mean, because the estimate should rather be too high.
    return count == 0 ? 0 : (total / count + largest) / 2
  }

  private static func bytes(
    of frame: Frame, _ encoding: ReplayEncoding
  ) throws -> Int64 {
    let format = encoding.format(frame.format)
    let picture = format == frame.format ? frame : try MediaScaler().scale(frame, format: format)
    let encoder = try MediaEncoder(encoding.settings(picture))
    let packets = try encoder.encode(picture, pts: 0, isKey: true) + encoder.finish()
    return packets.reduce(0) { $0 + Int64($1.size) }
  }
}
