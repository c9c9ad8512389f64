import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore

/// Writes the database of a session that was made from a bag.
struct BagRows {
  let rows: [(BagTrack, TrackRows)]
  let clock: BagClock
  let origin: BagOrigin

  /// A part of a media file with images of one size and format.
  private struct Part {
    var firstPacket: Int
    var file: Int
    var shape: DecodedFact.Shape
  }

  /// Writes the rows of all tracks and the facts, and closes the database.
  func write(to writer: StoreWriter, facts: StoreWriter.Facts) throws {
    let parts = rows.map { self.parts(of: $0.0, $0.1) }
    let count = parts.reduce(0) { $0 + $1.count }
    guard count <= StoreReader.segmentCountMax else {
      throw SessionError.tooManySegments(
        file: rows.first?.0.topic.name ?? "", frame: nil, segmentsMax: StoreReader.segmentCountMax)
    }
    writer.set(facts)
    var next = 0
    for ((track, rows), parts) in zip(rows, parts) {
      try write(track, rows, parts, first: next, to: writer)
      next += parts.count
    }
    try writer.close()
  }

  /// A new part begins with each file, and where a decoder returned images of another shape.
  private func parts(of track: BagTrack, _ rows: TrackRows) -> [Part] {
    var parts: [Part] = []
    var shapes = rows.parts[...]
    guard var shape = shapes.first?.shape else { return [] }
    for (number, file) in track.files.enumerated() {
      let end =
        number + 1 < track.files.count ? track.files[number + 1].firstPacket : rows.packets.count
      while let next = shapes.first, next.packet <= file.firstPacket {
        shape = next.shape
        shapes.removeFirst()
      }
      parts.append(Part(firstPacket: file.firstPacket, file: number, shape: shape))
      while let next = shapes.first, next.packet < end {
        shape = next.shape
        shapes.removeFirst()
        parts.append(Part(firstPacket: next.packet, file: number, shape: shape))
      }
    }
    return parts
  }

  private func write(
    _ track: BagTrack, _ rows: TrackRows, _ parts: [Part], first: Int, to writer: StoreWriter
  ) throws {
    for (place, part) in parts.enumerated() {
      let file = track.files[part.file]
      writer.append([
        SegmentRecord(
          index: first + place, file: file.name,
          startedNanoseconds: rows.packets[part.firstPacket].dts ?? 0, isClosed: true,
          bytes: file.bytes,
          reason: first + place == 0
            ? nil : "\(part.shape.width)x\(part.shape.height) \(part.shape.format.rawValue)")
      ])
      writer.append([description(of: file, part, segment: first + place, track: track.number)])
    }
    var last = Int64.min
    let segments = parts.enumerated().map { (number: first + $0, firstPacket: $1.firstPacket) }
    try rows.write(to: writer, segments: segments) { frame in
      frame.assumed.remove(.arrival)
      guard let packet = frame.packet else { return }
      // A replay takes frames in the order of their numbers, so none arrives before another.
      last = max(last, origin.time(of: clock.shifted(track.logTimes[packet])))
      frame.arrivalNanoseconds = last
    }
  }

  private func description(
    of file: BagTrack.File, _ part: Part, segment: Int, track: Int
  ) -> SegmentTrackRecord {
    var record = SegmentTrackRecord(
      segment: segment, track: track, of: file.stream, shape: part.shape)
    guard let format = file.form.pixelFormat else { return record }
    record.pixelFormat = format.ffmpegName
    // Cameras of ROS use all values of gray and RGB; the range of their YUV images is not known.
    record.range = format.isYUV ? nil : "full"
    record.matrix = format.isYUV ? nil : "identity"
    return record
  }
}
