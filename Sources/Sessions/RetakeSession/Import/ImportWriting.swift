import RetakeBuffers
import RetakeCore
package import RetakeMedia
package import RetakeStore

/// Writes the database of an imported session.
struct ImportWriting {
  let path: String
  /// In the order in which the recording has them; of most sessions there is one.
  let media: [Media]
  let facts: StoreWriter.Facts

  /// A media file of the session.
  struct Media: Hashable {
    /// Relative to the session's folder.
    var name: String
    var bytes: Int64
    var sha256: [UInt8]
  }

  /// Why a media file's segment begins.
  private static let appendedReason = "appended"

  /// How the tracks are shown, for the table `meta`.
  static func display(of streams: [(track: Int, stream: MediaStream)]) -> StoreWriter.Facts {
    [
      (ColorFacts.fact, ColorFacts(streams.map { ($0.track, $0.stream.color) }).stored),
      (
        MirroredTracks.fact,
        MirroredTracks(streams.filter(\.stream.isMirrored).map(\.track)).stored
      ),
    ]
  }

  /// Refuses a session that no reader would open.
  ///
  /// - Parameter file: Named by the error, with the first frame of the first segment too many.
  static func requireSegments(
    of tracks: [TrackRows], file: String, most: Int = StoreReader.segmentCountMax
  ) throws {
    // Each track has a row for its part in segment 0, so these are as many as the segments or more.
    var free = most
    for rows in tracks {
      guard rows.parts.count <= free else {
        let frame = rows.firstFrame(of: rows.parts[free])
        throw SessionError.tooManySegments(
          file: file, frame: frame.map { FrameID(track: rows.track, sequence: $0) },
          segmentsMax: most)
      }
      free -= rows.parts.count
    }
  }

  /// - Parameter samples: Writes the sensors, after the frames; it is given the times of the first
  ///   and the last frame.
  func write(
    _ tracks: [(MediaStream, TrackRows)],
    samples: (SampleWriter, _ frames: ClosedRange<Int64>) throws -> Void = { _, _ in }
  ) throws {
    let writer = try StoreWriter(building: path, facts: facts)
    writer.append(media.map { FileRecord(path: $0.name, role: "media", sha256: $0.sha256) })
    let (beginnings, numbers) = numbers(of: tracks.map(\.1))
    writer.append(media.indices.map { beginning(beginnings[$0], of: $0, tracks.map(\.1)) })
    for ((stream, rows), numbers) in zip(tracks, numbers) {
      let segments = zip(numbers, rows.parts).map { (number: $0, firstPacket: $1.packet) }
      for place in rows.parts.indices.dropFirst()
      where rows.parts[place].file == rows.parts[place - 1].file {
        writer.append([
          segment(
            numbers[place], from: rows.parts[place], after: rows.parts[place - 1], of: rows)
        ])
      }
      let first = rows.parts.first?.shape.labels
      writer.append(
        zip(segments, rows.parts).map { segment, part in
          let own = rows.streams[part.file] ?? stream
          // The container of a later file describes the labels of its first images.
          let labels = rows.parts.first { $0.file == part.file }?.shape.labels ?? first
          return SegmentTrackRecord(
            segment: segment.number, track: stream.index, of: own, shape: part.shape,
            first: labels)
        })
      try rows.write(to: writer, segments: segments)
    }
    try writer.commit()
    let start = tracks.compactMap { $0.1.timeline.frames.first?.nanoseconds }.min() ?? 0
    let end = tracks.compactMap { $0.1.timeline.frames.last?.nanoseconds }.max() ?? 0
    try samples(SampleWriter(writer), start...max(start, end))
    try writer.close()
  }

  /// The numbers of the segments: by file, and by track of each of its parts.
  ///
  /// The beginning of each file is a segment of every track; other segments belong to one track
  /// each. A track's segments are numbered in its order, so segments of the next file come later.
  private func numbers(of tracks: [TrackRows]) -> (beginnings: [Int], parts: [[Int]]) {
    var (next, beginnings) = (0, [Int]())
    var numbers = tracks.map { _ in [Int]() }
    for file in media.indices {
      beginnings.append(next)
      next += 1
      for (place, rows) in tracks.enumerated() {
        let count = rows.parts.count { $0.file == file }
        numbers[place] += (0..<count).map { $0 == 0 ? beginnings[file] : next + $0 - 1 }
        next += max(0, count - 1)
      }
    }
    return (beginnings, numbers)
  }

  /// The first segment of a file.
  private func beginning(_ index: Int, of file: Int, _ tracks: [TrackRows]) -> SegmentRecord {
    let start = tracks.lazy.compactMap { rows in
      rows.parts.first { $0.file == file }.flatMap { rows.firstFrame(of: $0) }
        .map { rows.timeline.frames[$0].nanoseconds }
    }.min()
    return SegmentRecord(
      index: index, file: media[file].name, startedNanoseconds: file == 0 ? 0 : start ?? 0,
      isClosed: true, bytes: media[file].bytes, reason: file == 0 ? nil : Self.appendedReason)
  }

  private func segment(
    _ index: Int, from part: TrackRows.Part, after before: TrackRows.Part, of rows: TrackRows
  ) -> SegmentRecord {
    let start = rows.firstFrame(of: part).map { rows.timeline.frames[$0].nanoseconds } ?? 0
    // Each segment has the size of the complete file, which `MediaSize` compares with the disk.
    return SegmentRecord(
      index: index, file: media[part.file].name, startedNanoseconds: start, isClosed: true,
      bytes: media[part.file].bytes,
      reason: Self.reason(part.shape, after: before.shape))
  }

  private static func reason(
    _ shape: DecodedFact.Shape, after before: DecodedFact.Shape
  ) -> String {
    let text = "\(shape.width)x\(shape.height) \(shape.format.rawValue)"
    guard let labels = shape.labels, labels != before.labels else { return text }
    return text + " pixels \(labels.aspect.numerator):\(labels.aspect.denominator)"
      + " \(labels.range.rawValue) \(labels.matrix.rawValue)"
  }
}

extension SegmentTrackRecord {
  /// Combines the container's description with the properties of the decoded images.
  ///
  /// - Parameter first: The labels of the track's first images, which the container's description
  ///   is about; other images are stored with their own labels.
  package init(
    segment: Int, track: Int, of stream: MediaStream, shape: DecodedFact.Shape,
    first: DecodedFact.Labels? = nil
  ) {
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
    guard let labels = shape.labels else { return }
    // FFmpeg describes a stream that begins late in a file before it has seen a picture of it.
    if stream.aspectFollowsPictures, stream.sampleAspect == .square {
      aspectNumerator = Int(labels.aspect.numerator)
      aspectDenominator = Int(labels.aspect.denominator)
    }
    guard let first, labels != first else { return }
    if labels.aspect != first.aspect {
      aspectNumerator = Int(labels.aspect.numerator)
      aspectDenominator = Int(labels.aspect.denominator)
    }
    if labels.range != first.range { range = labels.range.rawValue }
    if labels.matrix != first.matrix { matrix = labels.matrix.rawValue }
  }

  /// The container's own name of the format (`yuvj420p`), if that is the format of the images.
  private static func pixelFormat(_ stream: MediaStream, _ shape: DecodedFact.Shape) -> String {
    PixelFormat(ffmpegName: stream.pixelFormatName) == shape.format
      ? stream.pixelFormatName : shape.format.ffmpegName
  }
}
