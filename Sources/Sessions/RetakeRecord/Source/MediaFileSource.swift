import RetakeCore
import RetakeMedia
import RetakeSession

/// A media file that is played like a camera, with one or several tracks. It is decoded, and
/// encoded again.
public struct MediaFileSource: RecordingSource {
  /// Selects which of a file's video streams are recorded. The session's tracks are numbered from
  /// 0, in the file's order.
  public enum Tracks: Hashable, Sendable {
    case first
    case all
    /// The file's own stream numbers.
    case streams(Set<Int>)
  }

  /// The tracks of the file's chosen video streams; the name is `file:` and the file's name.
  public let description: SourceDescription
  private let path: String
  private let streams: [Int]
  /// Video streams that the default leaves out.
  private let others: [MediaStream]
  private let decoder: @Sendable (MediaStream, String) throws -> any PictureDecoding

  /// - Throws: `MediaError`, with one case for each way in which a file can be unsuitable.
  public init(path: String, tracks: Tracks = .first) throws {
    try self.init(path: path, tracks: tracks) { try MediaDecoder(stream: $0, file: $1) }
  }

  /// - Parameter decoder: Makes a decoder for a stream of the file.
  init(
    path: String, tracks: Tracks = .first,
    decoder: @escaping @Sendable (MediaStream, String) throws -> any PictureDecoding
  ) throws {
    self.decoder = decoder
    let demuxer = try MediaDemuxer(path: path)
    let first = try demuxer.videoStream()
    let chosen: [MediaStream] =
      switch tracks {
      case .first: [first]
      case .all: demuxer.videoStreams
      case .streams(let numbers): try numbers.sorted().map { try demuxer.videoStream($0) }
      }
    try demuxer.requireWhole(chosen)
    let name = path.split(separator: "/").last.map(String.init) ?? path
    self.path = path
    streams = chosen.map(\.index)
    others = tracks == .first ? demuxer.videoStreams.filter { $0.index != first.index } : []
    description = SourceDescription(name: "file:\(name)", tracks: chosen.map { SourceTrack($0) })
  }

  /// Why the file's packets cannot be stored unchanged. Reads the complete file if its codec may
  /// hide frames.
  func copyRefusal() throws -> CopyRefusal? {
    let demuxer = try MediaDemuxer(path: path)
    let codecs = Dictionary(
      uniqueKeysWithValues: demuxer.streams.filter { streams.contains($0.index) }
        .map { ($0.index, $0.codec) })
    guard codecs.values.contains(where: AltRefFrames.mayBeIn(codec:)) else { return nil }
    demuxer.select(Set(streams))
    // A read error is reported when the file is recorded.
    while let packet = try? demuxer.nextPacket() {
      guard let codec = codecs[packet.stream] else { continue }
      if AltRefFrames.areIn(packet, codec: codec) { return .shownAgain }
    }
    return nil
  }

  /// Opens the file again and decodes from its beginning.
  public func open() throws -> any FrameStream {
    let demuxer = try MediaDemuxer(path: path)
    let format = demuxer.format
    let tracks = try streams.enumerated().map { number, index in
      let stream = try demuxer.videoStream(index)
      let known =
        StreamEvidence.decidesLate(stream.codec)
        ? StreamEvidence.damages(of: stream, in: path) : nil
      return FileTrack(
        number: number, stream: stream, decoder: try decoder(stream, path), known: known
      ) { [path] in
        PacketIndexer.incompletePackets(
          of: stream, in: path, format: format, isFlagged: $0)
      }
    }
    demuxer.select(Set(streams + others.map(\.index)))
    return MediaFileStream(demuxer: demuxer, tracks: tracks, others: others)
  }
}

/// Turns packets into frames; tests use a decoder that sometimes fails for lack of memory.
protocol PictureDecoding: AnyObject {
  /// - Parameter packet: nil marks the end.
  func decode(_ packet: MediaPacket?) throws -> [DecodedFrame]
  /// Messages in the decoder's log since the last call.
  func takeReports() -> [DecoderReport]
}

extension PictureDecoding {
  func takeReports() -> [DecoderReport] { [] }
}

extension MediaDecoder: PictureDecoding {}

/// One stream of a file, decoded.
private final class FileTrack {
  let number: Int
  let stream: MediaStream
  private let decoder: any PictureDecoding
  /// The result of a packet, waiting for its turn.
  enum Item {
    case frame(SourceFrame)
    /// There was not enough memory for the frame, or its packet could not be decoded.
    case missed(MissedFrame)

    /// nil sorts before all times: a frame with unknown time is reported at once.
    var timestamp: Timestamp? {
      switch self {
      case .frame(let frame): frame.frame.timestamp
      case .missed(let missed): missed.timestamp
      }
    }
  }

  private(set) var ready: ArraySlice<Item> = []
  /// Results whose damage later packets may show, with their packets.
  private var held: ArraySlice<(item: Item, packet: Int)> = []
  private(set) var hasEnded = false
  private var failure: (any Error)?
  private var latest: Timestamp?
  private var failures = 0
  private var misses = 0
  /// Packets before the first picture may lack their references, and do not count.
  private var hasBegun = false
  private var recent = RecentPackets()
  private var watch: DamageWatch

  /// Bad packets in a row after which the file is considered lost.
  private static let failuresMax = 64
  /// Frames in a row that may fail for lack of memory: a few seconds.
  private static let missesMax = 100

  init(
    number: Int, stream: MediaStream, decoder: any PictureDecoding, known: [Int: StreamDamage]?,
    asksFile: @escaping @Sendable (_ isFlagged: Bool) -> Set<Int>?
  ) {
    (self.number, self.stream, self.decoder) = (number, stream, decoder)
    watch = DamageWatch(stream, known: known, asksFile: asksFile)
  }

  /// A camera does not stop when one frame could not be taken, and neither does this.
  ///
  /// - Parameter packet: nil marks the end.
  func take(_ packet: MediaPacket?) throws {
    defer { release() }
    if let packet { recent.add(packet) } else { hasEnded = true }
    watch.add(packet)
    do {
      let pictures = try decoder.decode(packet)
      watch.add(decoder.takeReports())
      for decoded in pictures { add(decoded) }
      (failures, misses) = (0, 0)
    } catch let error as MediaError {
      if let packet, !error.isOutOfMemory { watch.refused(packet, error) }
      guard !error.isLasting else { return try end(with: error) }
      guard let packet else { return try fail(error) }
      guard !error.isOutOfMemory else { return try miss(pts: packet.pts, error) }
      try fail(error)
      // The packet would have been a frame, so it gets a row, as in an imported file.
      guard hasBegun else { return }
      let missed = MissedFrame(refused: packet, error, of: stream, track: number)
      held.append((.missed(missed), packet.index))
    }
  }

  private func release() {
    while let first = held.first, hasEnded || watch.latest - first.packet >= watch.lookahead {
      held.removeFirst()
      if case .frame(var frame) = first.item {
        frame.cause = frame.cause ?? watch.lateCause(ofPacket: first.packet)
        ready.append(.frame(frame))
      } else {
        ready.append(first.item)
      }
    }
  }

  /// There may be memory for the next frame; this one still gets its row.
  func miss(pts: Int64?, _ error: MediaError) throws {
    misses += 1
    guard misses < Self.missesMax else { return try end(with: error) }
    let time = pts.flatMap { Timestamp(pts: $0, timeBase: stream.timeBase) }
    held.append((.missed(MissedFrame(timestamp: time, pts: pts, track: number)), watch.latest))
    release()
  }

  func fail(_ error: any Error) throws {
    failures += 1
    guard failures < Self.failuresMax, !hasEnded else { return try end(with: error) }
  }

  /// The frames that are held come before the error.
  private func end(with error: any Error) throws {
    hasEnded = true
    release()
    guard !ready.isEmpty else { throw error }
    failure = error
  }

  /// Throws the error that ended the track, after its last frame.
  func checkEnd() throws {
    if ready.isEmpty, let failure { throw failure }
  }

  /// - Throws: `MissedFrame`.
  func next() throws -> SourceFrame {
    switch ready.removeFirst() {
    case .frame(let frame): return frame
    case .missed(let missed): throw missed
    }
  }

  private func add(_ decoded: DecodedFrame) {
    var frame = decoded.frame
    // `pts` stays nil, so that the recorder marks this time as assumed.
    if decoded.bestEffortTimestamp == nil { frame.timestamp = guess(decoded) }
    latest = frame.timestamp
    hasBegun = true
    var captured = SourceFrame(
      frame: frame, pts: decoded.bestEffortTimestamp, duration: decoded.duration, track: number)
    captured.original = recent.original(of: decoded, stream: stream)
    captured.cause = watch.cause(of: decoded)
    captured.firstField = decoded.firstField
    held.append((.frame(captured), decoded.packetIndex))
  }

  private func guess(_ decoded: DecodedFrame) -> Timestamp {
    let rate = stream.averageFrameRate ?? FrameRate(25, 1)
    let step = Int64(1_000_000_000) * Int64(rate.denominator) / Int64(rate.numerator)
    return latest.map { $0 + step } ?? .zero
  }
}

/// The frames of all tracks in order of their times, as far as the file's interleaving allows.
private final class MediaFileStream: RemarkingStream {
  private let demuxer: MediaDemuxer
  private let tracks: [FileTrack]
  private var footage: FileFootage
  /// The size of the first packet of the first track.
  private var packetBytes: Int?

  /// Maximum number of one track's frames that wait for another track. If the file has more of them
  /// in a row, they are returned in the file's order.
  private static let waitingMax = 16

  init(demuxer: MediaDemuxer, tracks: [FileTrack], others: [MediaStream]) {
    (self.demuxer, self.tracks) = (demuxer, tracks)
    footage = FileFootage(
      recorded: tracks.map(\.stream), others: others, isTransport: demuxer.format == "mpegts")
  }

  func remarks(isCopied: Bool) -> [String] { footage.remarks(isCopied: isCopied) }

  var losses: [String] {
    guard footage.hasEnded else { return [] }
    return PacketIndexer.losses(
      ofFile: demuxer.path, format: demuxer.format, packetBytes: packetBytes)
  }

  func next() throws -> SourceFrame? {
    // Ends: the file ends.
    while true {
      for track in tracks { try track.checkEnd() }
      // Without a frame of each track it is not known which one is the earliest.
      if tracks.allSatisfy({ !$0.ready.isEmpty || $0.hasEnded }) { return try earliest?.next() }
      if let full = tracks.first(where: { $0.ready.count >= Self.waitingMax }) {
        return try full.next()
      }
      try read()
    }
  }

  private var earliest: FileTrack? {
    tracks.filter { !$0.ready.isEmpty }.min { left, right in
      guard let mine = left.ready.first, let other = right.ready.first else { return false }
      guard let before = mine.timestamp, let after = other.timestamp else {
        return mine.timestamp == nil && other.timestamp != nil
      }
      // The track settles equal times, so that the order is the same in each run.
      return (before, left.number) < (after, right.number)
    }
  }

  private func read() throws {
    let packet: MediaPacket?
    do {
      packet = try demuxer.nextPacket()
    } catch let error as MediaError {
      // With several tracks it is unknown whose packet failed.
      if error.isOutOfMemory, tracks.count == 1 { return try tracks[0].miss(pts: nil, error) }
      // The file may continue after the damage. Each track counts its own errors.
      for track in tracks where !track.hasEnded { try track.fail(error) }
      return
    }
    guard let packet else {
      footage.end()
      for track in tracks where !track.hasEnded { try track.take(nil) }
      return
    }
    footage.meet(packet, of: demuxer)
    if packetBytes == nil, packet.stream == tracks[0].stream.index { packetBytes = packet.size }
    try tracks.first { $0.stream.index == packet.stream }?.take(packet)
  }
}
