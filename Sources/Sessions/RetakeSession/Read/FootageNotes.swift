import Foundation
import RetakeBuffers
package import RetakeCore
import RetakeMedia
import RetakeStore

/// Properties of a session's footage that a user would not expect: tracks that follow one another,
/// frames that change their shape, opacity that is not decoded, and equal pictures.
///
/// It is not damage. It is computed from the rows, so that it is the same for imports, recordings
/// and copies.
struct FootageNotes {
  let reader: SessionReader

  /// Sentences without a full stop, in the order of the tracks.
  func texts() throws -> [String] {
    var notes: [String] = []
    for track in reader.tracks {
      let facts = try facts(of: track.track)
      let own =
        [facts.shapes, try hasOpacity(track.track) ? FootageText.opacity : nil].compactMap(\.self)
        + FootageText.lines(of: facts.equal, frames: track.frameCount)
      notes += own.map { "track \(track.track): \($0)" }
    }
    return try successions() + notes
  }

  // MARK: Frames

  private func facts(
    of track: Int
  ) throws -> (shapes: String?, equal: EqualImages) {
    var shapes = TrackShapes(try changes(of: track))
    var equal = EqualImages()
    var next = 0
    while true {
      let page = try reader.index.store.frames(track: track, from: next, count: Self.pageRows)
      for row in page {
        // A missing row is damage, which the check reports; places would be wrong from there on.
        guard row.sequence == next else { return (shapes.text, EqualImages()) }
        next += 1
        shapes.meet(packet: row.packet, frame: row.sequence)
        equal.add(row.pixelHash, nanoseconds: row.ptsNanoseconds)
      }
      guard page.count == Self.pageRows else { break }
    }
    equal.finish()
    return (shapes.text, equal)
  }

  private static let pageRows = 4_096

  /// The descriptions of a track that differ from the description before, each with its first
  /// packet.
  private func changes(
    of track: Int
  ) throws -> [(packet: Int, part: SegmentTrackRecord)] {
    let parts = reader.index.parts[track] ?? [:]
    var changes: [(packet: Int, part: SegmentTrackRecord)] = []
    var before: FrameShape?
    for segment in parts.keys.sorted() {
      guard let part = parts[segment] else { continue }
      let shape = FrameShape(part)
      defer { before = shape }
      guard before != shape else { continue }
      // Later changes are only counted, so their packets are not looked up.
      let isNamed = changes.count < TrackShapes.namedMax
      let packet =
        before == nil
        ? 0
        : isNamed
          ? try reader.index.store.firstPacket(track: track, segment: segment) : nil
      changes.append((packet ?? -1, part))
    }
    return changes
  }

  /// Whether packets of VP8 or VP9 have opacity.
  private func hasOpacity(_ track: Int) throws -> Bool {
    try reader.opacityTracks(among: [track]).contains(track)
  }

  // MARK: Tracks

  private func successions() throws -> [String] {
    let store = reader.index.store
    // A bag's topics are different cameras.
    let topics = try store.meta(BagTopics.fact)
    guard reader.tracks.count > 1, topics == nil else { return [] }
    var spans: [TrackSpan] = []
    for track in reader.tracks {
      let ends = try store.ends(track: track.track)
      guard let ends, ends.end > 1 else { continue }
      spans.append(
        TrackSpan(
          track: track.track, first: ends.firstNanoseconds, last: ends.lastNanoseconds,
          codec: reader.index.parts[track.track]?.min { $0.key < $1.key }?.value.codecName ?? "",
          width: track.width, height: track.height))
    }
    return TrackSpan.successions(
      spans, isTransport: isTransport,
      advice: "a source of a pipeline reads one track; choose it with its option 'track'")
  }

  /// Whether the tracks are streams of one MPEG transport stream.
  private var isTransport: Bool {
    let files = reader.mediaFiles()
    guard files.count == 1, let name = files.first, let path = try? reader.folder.file(name),
      let file = try? MediaFile(path: path)
    else { return false }
    // The sync byte of each packet; before it, some recorders write four bytes.
    return [(0, 188), (4, 192), (0, 204)].contains { start, size in
      (try? file.bytes(start + 2 * size + 1, at: 0)).map { bytes in
        (0...2).allSatisfy { bytes[start + $0 * size] == 0x47 }
      } ?? false
    }
  }
}

extension SessionReader {
  /// Facts about the footage that a user needs, each in one sentence; empty for ordinary footage.
  package func footageNotes() throws -> [String] {
    let stored = try index.store.meta(FootageFact.key)
    return FootageFact.notes(stored: stored) + (try FootageNotes(reader: self).texts())
  }

  /// Tracks whose packets have opacity. VP8 and VP9 keep it as an addition to each packet, and the
  /// decoders leave it out.
  package func opacityTracks(among tracks: [Int]) throws -> [Int] {
    var found: [Int] = []
    for track in tracks {
      let codecs = (index.parts[track] ?? [:]).values.map(\.codecName)
      guard codecs.contains(where: PacketOpacity.mayHave(codec:)) else { continue }
      let packets = try index.store.packets(track: track, from: 0, count: Self.opacityPackets)
      if packets.contains(where: { $0.sideData.map(PacketOpacity.isIn) ?? false }) {
        found.append(track)
      }
    }
    return found
  }

  /// An encoder adds opacity to each packet, so the first packets are enough evidence.
  private static let opacityPackets = 64
}

/// Notes of an import that are not in the rows: the fact `footage` of `meta`, a JSON array of
/// sentences. The session's digest does not cover the fact.
package enum FootageFact {
  package static let key = "footage"

  /// nil without notes: then the fact is not stored.
  package static func stored(_ notes: [String]) -> String? {
    guard !notes.isEmpty, let data = try? JSONEncoder().encode(notes) else { return nil }
    return String(decoding: data, as: UTF8.self)
  }

  /// The notes of a session that also hold for a part of it.
  ///
  /// - Parameters:
  ///   - tracks: The tracks of the part.
  ///   - place: The number of a frame in the part, and its time since the first frame of the part;
  ///     nil for a frame that is not in it.
  package static func notes(
    stored text: String?, ofPart tracks: Set<Int>,
    place: (FrameID) throws -> (sequence: Int, nanoseconds: Int64)?
  ) rethrows -> [String] {
    try notes(stored: text) { id in
      try place(id).map { (FrameID(track: id.track, sequence: $0.sequence), $0.nanoseconds) }
    } others: { note in
      guard let match = note.prefixMatch(of: /(?:track|stream) (\d+):/), let track = Int(match.1),
        tracks.contains(track)
      else { return nil }
      return InterlacedFrames.noteOfPart(note) ?? note
    }
  }

  /// The notes of a session for another session with its frames.
  ///
  /// - Parameters:
  ///   - place: A frame in the other session, and its time since the first frame there; nil for a
  ///     frame that is not in it.
  ///   - others: The text of a note that is not about files; nil for a note that does not hold.
  package static func notes(
    stored text: String?, place: (FrameID) throws -> (id: FrameID, nanoseconds: Int64)?,
    others: (String) -> String?
  ) rethrows -> [String] {
    let all = notes(stored: text)
    let moved = try all.map { try ChapterNotes.moved($0, place: place) }
    let begun = moved.compactMap { $0.flatMap(ChapterNotes.file(beginningIn:)) }
    return zip(all, moved).compactMap { note, moved in
      if let moved { return moved }
      return begun.contains { ChapterNotes.isBefore($0, note) } ? note : others(note)
    }
  }

  /// - Parameter text: As stored; there are no notes if it is nil or damaged.
  package static func notes(stored text: String?) -> [String] {
    text.flatMap { try? JSONDecoder().decode([String].self, from: Data($0.utf8)) } ?? []
  }
}

/// The properties of frames that a track may change.
private struct FrameShape: Hashable {
  var size: String
  var format: String
  var aspect: String
  var colors: String

  init(_ part: SegmentTrackRecord) {
    let stream = MediaStream(part)
    size = "\(part.width)x\(part.height)"
    format = PixelFormat(ffmpegName: part.pixelFormat)?.rawValue ?? part.pixelFormat
    aspect = "pixels \(part.aspectNumerator):\(part.aspectDenominator)"
    colors = "\(stream.range.rawValue) \(stream.matrix.rawValue)"
  }

  var members: [String] { [size, format, aspect, colors] }
}

/// Names the shapes of a track's frames, and where they change.
private struct TrackShapes {
  /// More changes are only counted.
  static let namedMax = 8

  private let shapes: [FrameShape]
  private let packets: [Int: Int]
  private var frames: [Int: Int] = [:]

  init(_ changes: [(packet: Int, part: SegmentTrackRecord)]) {
    shapes = changes.map { FrameShape($0.part) }
    packets = Dictionary(changes.enumerated().map { ($1.packet, $0) }) { first, _ in first }
  }

  /// Notes the first frame of each shape. Called with the frames of the track in order.
  mutating func meet(packet: Int?, frame: Int) {
    guard shapes.count > 1, let packet, let place = packets[packet], frames[place] == nil else {
      return
    }
    frames[place] = frame
  }

  /// `320x240, from frame 25 on 640x480`; nil for one shape. Only properties that change are named.
  var text: String? {
    guard let first = shapes.first, shapes.count > 1 else { return nil }
    let changing = first.members.indices.filter { member in
      shapes.contains { $0.members[member] != first.members[member] }
    }
    let named = shapes.prefix(Self.namedMax).enumerated().map { place, shape in
      let text = changing.map { shape.members[$0] }.joined(separator: " ")
      guard place > 0 else { return text }
      return frames[place].map { "from frame \($0) on \(text)" } ?? "then \(text)"
    }
    let rest = shapes.count - named.count
    return "the frames change: " + named.joined(separator: ", ")
      + (rest > 0 ? ", and \(rest) more changes" : "")
  }
}

/// From a track's first frame to its last, in nanoseconds.
package struct TrackSpan: Hashable {
  package var track: Int
  package var first: Int64
  package var last: Int64
  var codec: String
  var width: Int
  var height: Int

  package init(
    track: Int, first: Int64, last: Int64, codec: String, width: Int, height: Int
  ) {
    (self.track, self.first, self.last) = (track, first, last)
    (self.codec, self.width, self.height) = (codec, width, height)
  }

  /// Tracks are parallel if they overlap by more than this.
  private static let overlapMax: Int64 = 500_000_000
  private static let gapMax: Int64 = 1_000_000_000

  /// A sentence for each track that begins where another one ends.
  ///
  /// - Parameters:
  ///   - isTransport: The tracks are streams of one MPEG transport stream.
  ///   - advice: Ends the sentence.
  package static func successions(
    _ spans: [TrackSpan], isTransport: Bool, advice: String
  ) -> [String] {
    let start = spans.map(\.first).min() ?? 0
    // Two cameras may both be continued, each by a different track.
    var taken: Set<Int> = []
    return spans.compactMap { span in
      let before = spans.filter { span.follows($0) }.max {
        (span.isLike($0) ? 1 : 0, taken.contains($0.track) ? 0 : 1, $0.last, -$0.track)
          < (span.isLike($1) ? 1 : 0, taken.contains($1.track) ? 0 : 1, $1.last, -$1.track)
      }
      guard let before else { return nil }
      taken.insert(before.track)
      return span.text(after: before, start: start, isTransport: isTransport) + "; " + advice
    }
  }

  private func follows(_ other: TrackSpan) -> Bool {
    let shorter = min(last &- first, other.last &- other.first)
    return other.track != track && shorter > 0
      && first >= other.last &- min(Self.overlapMax, shorter / 4) && first > other.first
  }

  private func isLike(_ other: TrackSpan) -> Bool {
    // A stream that begins late has no size yet.
    codec == other.codec
      && (width == 0 || other.width == 0 || (width == other.width && height == other.height))
  }

  private func text(after other: TrackSpan, start: Int64, isTransport: Bool) -> String {
    let gap = first &- other.last
    let place = "(\(FootageText.seconds(first &- start)))"
    let begins =
      gap <= Self.gapMax
      ? "track \(track) begins where track \(other.track) ends \(place)"
      : "track \(track) begins \(FootageText.seconds(gap)) after track \(other.track) ends \(place)"
    let what =
      isLike(other)
      ? isTransport
        ? "it is the same video on another PID" : "the same video continues in another track"
      : "the recording continues in another codec or size"
    return "\(begins): \(what)"
  }
}

/// Sentences about the frames of one track.
package enum FootageText {
  package static let opacity =
    "the frames have opacity, which is not decoded: stages get them opaque"

  /// With at most a fifth of the frames new, the number of pictures says more than the places.
  private static let slidesShare = 5

  static func lines(of equal: EqualImages, frames: Int) -> [String] {
    [stills(equal, frames), echoes(equal)].compactMap(\.self)
  }

  private static func stills(_ equal: EqualImages, _ frames: Int) -> String? {
    guard let longest = equal.stills.max(by: { $0.count < $1.count }) else { return nil }
    let length = "(\(counted(longest.count, "frame")), \(seconds(longest.nanoseconds)))"
    let places = "frames \(longest.first) to \(longest.last)"
    guard equal.pictureCount * slidesShare > frames else {
      return equal.pictureCount == 1
        ? "all frames are equal \(length)"
        : "\(equal.pictureCount) different images in \(counted(frames, "frame")); the longest "
          + "run of equal "
          + "images is \(places) \(length)"
    }
    let others = equal.stills.filter { $0 != longest }.map {
      "\($0.first) to \($0.last) (\(counted($0.count, "frame")), \(seconds($0.nanoseconds)))"
    }
    let rest = equal.stillCount - equal.stills.count
    return "\(places) are equal \(length)"
      + (others.isEmpty ? "" : ", and so are " + others.joined(separator: " and "))
      + (rest > 0 ? ", and \(rest) more runs" : "")
  }

  private static func echoes(_ equal: EqualImages) -> String? {
    guard let longest = equal.echoes.max(by: { $0.count < $1.count }) else { return nil }
    let rest = equal.echoCount - 1
    let (first, earlier, last) = (longest.first, longest.earlier, longest.count - 1)
    return "frames \(first) to \(first + last) are frames \(earlier) to \(earlier + last) again "
      + "(\(counted(longest.count, "frame")))"
      + (rest == 0 ? "" : rest == 1 ? ", and 1 more run" : ", and \(rest) more runs")
  }

  /// `2.4 s`
  static func seconds(_ nanoseconds: Int64) -> String {
    FixedPoint.seconds(nanoseconds, digits: 1) + " s"
  }
}
