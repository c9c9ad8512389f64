import RetakeCore
package import RetakeMedia
package import RetakeStore

/// The rows of one track, built while they are written, because all of them together may not fit
/// into memory. Segment 0 is the file's beginning; the caller numbers the others.
package struct TrackRows: Sendable {
  package struct Part: Hashable, Sendable {
    package var packet: Int
    package var shape: DecodedFact.Shape
    /// The number of its media file.
    var file = 0
  }

  let track: Int
  package let packets: PacketList
  let facts: TrackFacts
  package private(set) var timeline: FrameTimeline
  /// Where the images' shape or the media file changes: the first packet, and the shape from there
  /// on. The first part is at packet 0.
  package let parts: [Part]
  /// By media file; empty if the rows are not of media files that are imported.
  let streams: [Int: MediaStream]
  /// By sequence.
  private var entries: [Int32]
  /// Why a frame's pixels cannot be trusted, by sequence.
  private var causes: [Int: String] = [:]

  package init(
    track: Int, packets: PacketList, facts: TrackFacts, timeline: FrameTimeline,
    streams: [Int: MediaStream] = [:]
  ) {
    (self.track, self.packets, self.facts, self.timeline) = (track, packets, facts, timeline)
    self.streams = streams
    parts = Self.parts(of: facts.frames, packets)
    entries = [Int32](repeating: 0, count: timeline.frames.count)
  }

  /// The rotation or mirroring that the first image itself asks for.
  package var displayTurn: DisplayTurn? { facts.displayTurn }

  /// A description of interlaced images; nil without such images.
  package var interlacedNote: String? {
    facts.interlaced.note(track: track, of: facts.frames.count)
  }

  package var frameCount: Int { timeline.frames.count }

  /// Number of frames that cannot be replayed.
  package var damaged: Int {
    timeline.frames.indices.count { causes[$0] != nil || timeline.frames[$0].fact < 0 }
  }

  /// Damage that the stream and its decoder show and no flag shows: a line for each stretch of
  /// frames with one cause, and the decoder's own remarks.
  package var damageNotes: [String] {
    let named = timeline.frames.indices.compactMap { place in
      causes[place].flatMap { Self.words[$0] == nil ? nil : (sequence: place, cause: $0) }
    }
    let stretches = FrameStretch.stretches(named)
    var notes = stretches.prefix(Self.notesMax).map { stretch in
      let (count, words) = (stretch.last - stretch.first + 1, words(stretch))
      let what =
        count == 1
        ? "frame \(track):\(stretch.first) \(words?.one ?? "")"
        : "frames \(track):\(stretch.first) to \(track):\(stretch.last) (\(count)) "
          + (words?.several ?? "")
      return what + " (\(stretch.cause))"
    }
    if stretches.count > Self.notesMax {
      let more = stretches.count - Self.notesMax
      notes.append("track \(track): \(more) more such stretches of frames")
    }
    return notes + remarks
  }

  private func words(_ stretch: FrameStretch) -> (one: String, several: String)? {
    let isMissing = stretch.cause == StreamDamage.referenceMissing.rawValue
    let isByTimes =
      facts.headers.isByTimes && !facts.headers.opening.contains(packet(ofFrame: stretch.first))
    return isMissing && isByTimes ? Self.missingByTimes : Self.words[stretch.cause]
  }

  private static let missingByTimes = (
    one: "refers to a picture that should be there by the times in the stream, and is not",
    several: "refer to a picture that should be there by the times in the stream, and is not"
  )

  /// The words of a note about one frame, and about several.
  private static let words = [
    StreamDamage.referenceMissing.rawValue: (
      one: "refers to a picture that is not in the stream",
      several: "refer to a picture that is not in the stream"
    ),
    StreamDamage.sliceMissing.rawValue: (
      one: "has slices missing, or refers to a picture that has",
      several: "have slices missing, or refer to a picture that has"
    ),
    StreamDamage.misplaced.rawValue: (
      one: "shows a picture that belongs at another time",
      several: "show a picture that belongs at another time"
    ),
    FrameCause.reported: (
      one: "is damaged, as the decoder reports", several: "are damaged, as the decoder reports"
    ),
  ]
  private static let notesMax = 8
  private static let remarksMax = 3

  /// The lines of the decoder's log that report no damage; each line once.
  private var remarks: [String] {
    var known: Set<String> = []
    let lines = facts.reports.filter { !$0.isDamage && known.insert($0.line).inserted }
    return lines.prefix(Self.remarksMax).map {
      "track \(track), packet \($0.packet): the decoder reports: \($0.line)"
    }
  }

  package func packet(ofFrame sequence: Int) -> Int {
    let frame = timeline.frames[sequence]
    return frame.fact < 0
      ? facts.refused[Int(frame.refusal)].packet : facts.frames.packet(Int(frame.fact))
  }

  package func firstFrame(of part: Part) -> Int? {
    timeline.frames.indices.first { packet(ofFrame: $0) == part.packet }
      // The first packet of a chapter may have no frame.
      ?? timeline.frames.indices.first { packet(ofFrame: $0) > part.packet }
  }

  /// Replaces the times of the frames.
  ///
  /// - Parameter nanoseconds: One for each frame.
  mutating func setTimes(_ nanoseconds: [Int64]) {
    precondition(nanoseconds.count == frameCount, "each frame has a time")
    for (place, time) in nanoseconds.enumerated() {
      timeline.frames[place].nanoseconds = time
      timeline.frames[place].assumed = 0
    }
    timeline.places = []
  }

  package mutating func settle(_ sequence: Int, entry: Int, cause: String?) {
    entries[sequence] = Int32(clamping: entry)
    causes[sequence] = cause
  }

  package func frame(_ sequence: Int) -> FrameRecord {
    let frame = timeline.frames[sequence]
    let assumed = FrameRecord.Assumed(rawValue: Int(frame.assumed))
    guard frame.fact >= 0 else {
      let refusal = facts.refused[Int(frame.refusal)]
      return FrameRecord(
        track: track, sequence: sequence, pts: packets[refusal.packet].pts,
        ptsNanoseconds: frame.nanoseconds, arrivalNanoseconds: frame.nanoseconds,
        packet: refusal.packet, entry: Int(entries[sequence]), cause: refusal.code,
        assumed: assumed)
    }
    let fact = facts.frames[Int(frame.fact)]
    let cause = causes[sequence]
    // The pixels of a frame with a cause may differ each time, so it has no digest.
    return FrameRecord(
      track: track, sequence: sequence, pts: fact.pts, ptsNanoseconds: frame.nanoseconds,
      arrivalNanoseconds: frame.nanoseconds, packet: fact.packet, entry: Int(entries[sequence]),
      pixelHash: cause == nil ? fact.digest : nil, cause: cause, assumed: assumed,
      shown: fact.shown)
  }

  /// Writes the packets and the frames.
  ///
  /// - Parameters:
  ///   - segments: The track's segments with their first packets; empty if the packets have theirs.
  ///   - change: Changes each frame.
  package func write(
    to writer: StoreWriter, segments: [(number: Int, firstPacket: Int)] = [],
    _ change: (inout FrameRecord) -> Void = { _ in }
  ) throws {
    var rest = segments[...]
    var current: Int?
    try writer.write(packets) { packet in
      // Packets come in rising order, so the segment only moves forward.
      while let next = rest.first, next.firstPacket <= packet.index {
        current = next.number
        rest.removeFirst()
      }
      if let current { packet.segment = current }
    }
    try writer.write((0..<frameCount).lazy.map(frame), change)
  }

  /// The packets, in decode order, at which the images' size or format or the media file changes.
  private static func parts(of facts: FactList, _ packets: PacketList) -> [Part] {
    let files = packets.indices.last.map(packets.segment) ?? 0
    guard facts.shapeCount > 1 || files > 0 else {
      return facts.first.map { [Part(packet: 0, shape: $0.shape)] } ?? []
    }
    var parts: [Part] = []
    let inPacketOrder = facts.indices.sorted {
      (facts.packet($0), $0) < (facts.packet($1), $1)
    }
    for place in inPacketOrder {
      let fact = facts[place]
      let file = files > 0 ? packets.segment(fact.packet) : 0
      let isNew = parts.last?.file != file
      guard isNew || parts.last?.shape != fact.shape else { continue }
      // The first part of a file begins at its first packet, even if that has no image.
      let packet = isNew ? packets.firstPacket(ofSegment: file) : fact.packet
      parts.append(Part(packet: packet, shape: fact.shape, file: file))
    }
    return parts
  }
}
