import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeStore

/// Writes the database of an imported session.
struct ImportWriting {
  let path: String
  /// Relative to the session's folder.
  let media: String
  let bytes: Int64
  let sha256: [UInt8]
  let facts: [(key: String, value: String)]

  /// Rows that go into one transaction.
  private static let batchRows = 16_384

  func write(_ tracks: [(MediaStream, TrackIndexing.Rows)]) throws(SessionError) {
    try fromStore { () throws(StoreError) in
      let writer = try StoreWriter(creating: path, durability: .building)
      for fact in facts { writer.setMeta(fact.key, fact.value) }
      writer.append([FileRecord(path: media, role: "media", sha256: sha256)])
      writer.append([SegmentRecord(index: 0, file: media, isClosed: true, bytes: bytes)])
      var nextSegment = 1
      for (stream, rows) in tracks {
        var segments = [0]
        for part in rows.parts.dropFirst() {
          writer.append([segment(nextSegment, from: part, of: rows)])
          segments.append(nextSegment)
          nextSegment += 1
        }
        writer.append(
          zip(segments, rows.parts).map { description(of: stream, segment: $0, shape: $1.shape) })
        try write(rows, segments: segments, to: writer)
      }
      try writer.close()
    }
  }

  private func segment(
    _ index: Int, from part: TrackIndexing.Rows.Part, of rows: TrackIndexing.Rows
  ) -> SegmentRecord {
    let start = rows.frames.first { $0.packet == part.packet }?.ptsNanoseconds ?? 0
    return SegmentRecord(
      index: index, file: media, startedNanoseconds: start, isClosed: true, bytes: bytes,
      reason: "\(part.shape.width)x\(part.shape.height) \(part.shape.format.rawValue)")
  }

  private func write(
    _ rows: TrackIndexing.Rows, segments: [Int], to writer: StoreWriter
  ) throws(StoreError) {
    var part = 0
    for start in stride(from: 0, to: rows.packets.count, by: Self.batchRows) {
      var batch = Array(rows.packets[start..<min(start + Self.batchRows, rows.packets.count)])
      for place in batch.indices {
        while part + 1 < rows.parts.count, rows.parts[part + 1].packet <= batch[place].index {
          part += 1
        }
        batch[place].segment = segments[part]
      }
      writer.append(batch)
      try writer.commit()
    }
    for start in stride(from: 0, to: rows.frames.count, by: Self.batchRows) {
      writer.append(Array(rows.frames[start..<min(start + Self.batchRows, rows.frames.count)]))
      try writer.commit()
    }
  }

  private func description(
    of stream: MediaStream, segment: Int, shape: DecodedFact.Shape
  ) -> SegmentTrackRecord {
    SegmentTrackRecord(segment: segment, track: stream.index, of: stream, shape: shape)
  }
}

extension SegmentTrackRecord {
  /// What a container and the decoded pictures say.
  init(segment: Int, track: Int, of stream: MediaStream, shape: DecodedFact.Shape) {
    self.init(
      segment: segment, track: track, streamIndex: stream.index, codec: stream.storedCodec,
      profile: stream.profile, extradata: stream.extradata.isEmpty ? nil : stream.extradata,
      width: shape.width, height: shape.height, pixelFormat: Self.pixelFormat(stream, shape),
      range: stream.rangeAssumed ? nil : stream.range.rawValue,
      matrix: stream.matrixAssumed ? nil : stream.matrix.rawValue,
      rotationDegrees: stream.rotationDegrees,
      aspectNumerator: Int(stream.sampleAspect.numerator),
      aspectDenominator: Int(stream.sampleAspect.denominator), timeBase: stream.timeBase,
      delay: stream.delay)
  }

  /// The container's own name for it where that is the pictures' format (`yuvj420p`).
  private static func pixelFormat(_ stream: MediaStream, _ shape: DecodedFact.Shape) -> String {
    PixelFormat(ffmpegName: stream.pixelFormatName) == shape.format
      ? stream.pixelFormatName : shape.format.ffmpegName
  }
}
