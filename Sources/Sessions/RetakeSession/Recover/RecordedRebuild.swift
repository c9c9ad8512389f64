import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore

/// Rebuilds the index of a recorded session from its segments alone. Times are the containers'
/// times, in milliseconds, and a frame's arrival is assumed to be its presentation time.
struct RecordedRebuild {
  let site: SessionFolder
  let facts: StoreWriter.Facts
  /// Of the old database: not every container has the rotation.
  let parts: [SegmentTrackRecord]
  let report: @Sendable (SessionCheck.Progress) -> Bool

  /// One readable file.
  private struct Segment {
    var index: Int
    var name: String
    var file: MediaFile
    var stream: MediaStream
    var packets: [PacketRecord]
    /// The packets continue the packets of the segment before, without a loss.
    var continues = false
  }

  func run(_ names: [String]) throws -> MediaRebuild.Outcome {
    var outcome = MediaRebuild.Outcome()
    var tracks: [Int: [Segment]] = [:]
    for name in names {
      do {
        let track = Self.track(of: name)
        // Segments are numbered over all tracks, in the order of the files' names.
        let number = tracks.values.reduce(0) { $0 + $1.count }
        var segment = try read(name, index: number, losses: &outcome.losses)
        if let before = tracks[track]?.last { Self.continue(before, with: &segment) }
        for place in segment.packets.indices { segment.packets[place].track = track }
        tracks[track, default: []].append(segment)
      } catch let error as any RetakeError {
        // A file that cannot be read is a loss, and the others are still worth having.
        if case SessionError.interrupted = error { throw error }
        outcome.losses.append("\(name) cannot be read: \(error.cause ?? error.message)")
      }
    }
    guard !tracks.isEmpty else { throw SessionError.noFrames(file: site.media) }
    outcome.losses.insert(Self.lossText, at: 0)
    outcome.frames = try write(tracks, losses: outcome.losses)
    return outcome
  }

  private static let lossText =
    "the index was made again from the media: times are exact to a millisecond, arrivals are "
    + "assumed, and frames without pixels are not known"

  /// `media/video-00000.mkv` belongs to track 0, `media/video-t2-00000.mkv` to track 2.
  static func track(of name: String) -> Int {
    let parts = name.split(separator: "-")
    guard parts.count == 3, parts[1].hasPrefix("t"), let track = Int(parts[1].dropFirst()),
      (0..<1_000).contains(track)
    else { return 0 }
    return track
  }

  /// The recorder's number of the segment: 1 in `media/video-t2-00001.mkv`.
  private static func number(of name: String) -> Int? {
    name.split(separator: "-").last.flatMap { Int($0.prefix { $0 != "." }) }
  }

  private func read(
    _ name: String, index: Int, losses: inout [String]
  ) throws -> Segment {
    let path = try site.file(name)
    let file = try MediaFile(path: path)
    var stream = try MediaDemuxer(path: path).videoStream()
    if let part = parts.first(where: { $0.segment == Self.number(of: name) }) {
      stream.rotationDegrees = part.rotationDegrees
    }
    let report = report
    var findings = try PacketIndexer(file: file, streams: [stream]) {
      report(SessionCheck.Progress(done: $0, total: 0))
    }.run()
    losses += findings.losses.map { "\(name): \($0)" }
    var packets = findings.packets.removeValue(forKey: stream.index).map(Array.init) ?? []
    guard !packets.isEmpty else { throw SessionError.noFrames(file: path) }
    for place in packets.indices { packets[place].segment = index }
    return Segment(index: index, name: name, file: file, stream: stream, packets: packets)
  }

  /// Continues the packet numbers, and moves the times after the times of the previous segment if
  /// the container's clock restarted.
  private static func `continue`(_ before: Segment, with segment: inout Segment) {
    let number = (before.packets.last?.index ?? -1) + 1
    let times = before.packets.compactMap(\.pts)
    let last = times.max() ?? 0
    let first = segment.packets.compactMap(\.pts).min() ?? 0
    let base = before.stream.timeBase
    func moved(_ time: Int64?) -> Int64? {
      // Rows have the time base of the track's first file.
      guard let time, segment.stream.timeBase != base else { return time }
      return Timestamp(pts: time, timeBase: segment.stream.timeBase)?.pts(in: base)
    }
    // Wraps: a file may claim any time, and must not end the process.
    let length = last &- (times.min() ?? 0)
    let step = max(1, times.count > 1 ? length / Int64(times.count - 1) : 1)
    let gap = (moved(first) ?? 0) &- last
    // A lost packet would leave a gap of two steps at least.
    segment.continues =
      gap > 0 && gap < step &+ step / 2 && SegmentView.continues(segment.stream, before.stream)
    let shift = (moved(first) ?? 0) > last ? 0 : last &+ step &- (moved(first) ?? 0)
    for place in segment.packets.indices {
      segment.packets[place].index += number
      segment.packets[place].pts = moved(segment.packets[place].pts).map { $0 &+ shift }
      segment.packets[place].dts = moved(segment.packets[place].dts).map { $0 &+ shift }
    }
    segment.stream.timeBase = base
  }

  /// - Returns: the number of frames.
  private func write(
    _ tracks: [Int: [Segment]], losses: [String]
  ) throws -> Int {
    var rows: [TrackRows] = []
    let report = report
    for track in tracks.keys.sorted() {
      guard let segments = tracks[track], let stream = segments.first?.stream else { continue }
      let views = segments.map {
        ($0.index, SegmentView(file: $0.file, stream: $0.stream, continues: $0.continues))
      }
      let indexing = TrackIndexing(
        track: track, stream: stream, views: Dictionary(uniqueKeysWithValues: views),
        packets: PacketList(segments.flatMap(\.packets)), memory: ImageMemory()
      ) { report(SessionCheck.Progress(done: $0.done, total: $0.total ?? 0)) }
      rows.append(try indexing.run())
    }
    let standing = SessionStanding(
      damagedFrames: rows.reduce(0) { $0 + $1.damaged }, losses: losses)
    let times = TimePlaces(rows.flatMap(\.timeline.places)).stored
    let streams = tracks.keys.sorted().compactMap { track in
      tracks[track]?.first.map { (track, $0.stream) }
    }
    // The old index first: not every container has all of it.
    let writer = try StoreWriter(
      building: site.database,
      facts: ImportWriting.display(of: streams) + facts + standing.facts
        + [(TimePlaces.fact, times)])
    for track in tracks.keys.sorted() {
      for segment in tracks[track] ?? [] {
        writer.append([Self.record(of: segment)])
        writer.append([Self.part(of: segment, track: track)])
      }
    }
    for row in rows { try row.write(to: writer) }
    try writer.close()
    return rows.reduce(0) { $0 + $1.frameCount }
  }

  private static func record(of segment: Segment) -> SegmentRecord {
    let start = segment.packets.first?.pts.flatMap {
      Timestamp(pts: $0, timeBase: segment.stream.timeBase)
    }
    return SegmentRecord(
      index: segment.index, file: segment.name, startedNanoseconds: start?.nanoseconds ?? 0,
      isClosed: true, bytes: segment.file.size,
      reason: segment.continues ? SegmentRecord.limitReason : nil)
  }

  private static func part(of segment: Segment, track: Int) -> SegmentTrackRecord {
    let stream = segment.stream
    let shape = DecodedFact.Shape(
      width: stream.width, height: stream.height,
      format: .init(ffmpegName: stream.pixelFormatName) ?? .i420)
    return SegmentTrackRecord(segment: segment.index, track: track, of: stream, shape: shape)
  }
}
