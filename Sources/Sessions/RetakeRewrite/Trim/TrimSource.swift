import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore

/// Reads one track of the original for a trim.
struct TrimSource {
  let reader: SessionReader
  let track: TrimSpan.Track

  var color: ColorLabels { reader.color(of: track.track) }

  /// The rows of the span, and of every other frame whose packet is among theirs.
  func rows() throws -> [FrameRecord] {
    let span = try reader.index.store.frames(
      track: track.track, sequences: Range(track.sequences))
    let wanted = span.compactMap(\.packet)
    guard let first = wanted.min(), let last = wanted.max() else { return span }
    // Packets are in decoding order, so frames from outside the span may be among them.
    let around = try reader.index.store.frames(track: track.track, packets: first...last)
    let others = around.filter { !track.sequences.contains($0.sequence) }
    return (span + others).sorted { $0.sequence < $1.sequence }
  }

  func plan(_ rows: [FrameRecord], copies: Bool) throws -> TrimPlan {
    let wanted = rows.compactMap(\.packet)
    var segments: [Int: Int] = [:]
    var damaged: Set<Int> = []
    // Every packet is read before the copy is planned: a damaged packet ends the packets to copy.
    if copies, let first = wanted.min(), let last = wanted.max() {
      let fetcher = fetcher()
      for record in try packets(first...last) {
        segments[record.index] = record.segment
        do {
          if try fetcher.packet(record.index) == nil { damaged.insert(record.index) }
        } catch let error as SessionError {
          guard error.isDamage else { throw error }
          damaged.insert(record.index)
        }
      }
    }
    return TrimPlan(
      rows.map {
        TrimPlan.Row(
          sequence: $0.sequence, packet: $0.packet, entry: $0.entry, isDamaged: $0.cause != nil)
      }, span: track.sequences, segments: segments, damaged: damaged,
      end: copies ? try lastGroup(wanted.max()) : .nothing)
  }

  private func lastGroup(_ packet: Int?) throws -> TrimPlan.LastGroup {
    guard let packet else { return .nothing }
    // The track ends here, so no packet after the span shows a hidden image of the last group.
    guard try reader.index.packet(track: track.track, index: packet + 1) != nil else {
      return .whole
    }
    let following = try reader.index.store.frames(
      track: track.track, packets: packet + 1...packet + 1)
    // Decoding can begin after the span, so its last group is complete.
    if following.contains(where: { $0.entry == packet + 1 }) { return .whole }
    let codec = MediaStream(try part(of: packet)).codec
    return MediaStream.mayHidePictures(codec) ? .hidden : .cut
  }

  func packets(_ range: ClosedRange<Int>) throws -> [PacketRecord] {
    try reader.index.store.packets(track: track.track, indexes: Range(range))
  }

  func fetcher() -> PacketFetcher {
    PacketFetcher(table: IndexedTrack(index: reader.index, track: track.track))
  }

  /// The track's description at a packet; at the track's beginning for a nil packet.
  func part(of packet: Int?) throws -> SegmentTrackRecord {
    try Self.part(of: packet, track: track.track, in: reader)
  }

  static func part(
    of packet: Int?, track: Int, in reader: SessionReader
  ) throws -> SegmentTrackRecord {
    let parts = reader.index.parts[track] ?? [:]
    let segment = try packet.flatMap { packet in
      try reader.index.packet(track: track, index: packet)?.segment
    }
    // A frame without a packet has the description at the track's beginning.
    guard let part = segment.flatMap({ parts[$0] }) ?? parts.keys.min().flatMap({ parts[$0] })
    else { throw SessionError.unknownTrack(session: reader.folder.path, track: track, known: []) }
    return part
  }

  func frame(_ sequence: Int) throws -> Frame {
    try reader.frame(FrameID(track: track.track, sequence: sequence))
  }
}

/// Compares a trimmed session's frames with the original's.
struct TrimProof {
  let original: SessionReader
  let copy: SessionFolder

  /// nil for a frame that cannot be read; the copy cannot read it either.
  private func original(
    _ sequence: Int, _ source: TrimSource
  ) throws -> Frame? {
    do {
      return try source.frame(sequence)
    } catch let error as SessionError {
      guard error.isDamage else { throw error }
      return nil
    }
  }

  func check(_ tracks: [TrimSpan.Track], _ progress: inout TrimProgress) throws {
    let reader = try SessionReader(copy, options: ReadOptions(framesPerChain: nil))
    for track in tracks {
      let (before, after) = (
        TrimSource(reader: original, track: track),
        TrimSource(reader: reader, track: track)
      )
      for sequence in track.sequences {
        try progress.advance()
        let expected = try original(sequence, before)
        let id = FrameID(track: track.track, sequence: sequence)
        do {
          let found = try after.frame(sequence - track.sequences.lowerBound)
          guard let expected, found.isEqual(expected) else {
            throw SessionError.trimDiffers(
              session: original.folder.path, frame: id, cause: "its pixels are others")
          }
        } catch let error as any RetakeError {
          // Thrown above, and not an error of reading the copy.
          if case SessionError.trimDiffers = error { throw error }
          guard expected == nil else {
            throw SessionError.trimDiffers(
              session: original.folder.path, frame: id, cause: error.cause ?? error.message)
          }
        }
      }
    }
  }
}

extension SessionError {
  /// Whether the error is damage of a single packet or frame, which a copy keeps. Every other error
  /// ends the copy: a missing media file, an index that contradicts it, a lack of memory, an
  /// interruption by the user.
  var isDamage: Bool {
    switch self {
    case .mediaMismatch, .undecodable, .noPixels: true
    default: false
    }
  }
}

extension Frame {
  fileprivate func isEqual(_ other: Frame) -> Bool {
    format == other.format && width == other.width && height == other.height
      && range == other.range && matrix == other.matrix && timestamp == other.timestamp
      && rotationDegrees == other.rotationDegrees && isMirrored == other.isMirrored
      && sampleAspect == other.sampleAspect
      && pixelDigest == other.pixelDigest
  }
}
