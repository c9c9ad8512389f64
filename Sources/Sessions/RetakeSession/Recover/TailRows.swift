package import RetakeCore
import RetakeMedia
import RetakeStore

/// Makes rows for the packets that a recorder wrote after its last commit, or whose commits were
/// lost with the log. The recorder writes one packet per frame, in order.
struct TailRows {
  let site: SessionFolder
  let report: @Sendable (SessionCheck.Progress) -> Bool

  /// A point in time on both the container's clock and the session's.
  private struct Meeting {
    var milliseconds: Int64
    var ptsNanoseconds: Int64
    var arrivalNanoseconds: Int64
  }

  /// The numbers and clocks after the rows that have been added so far.
  private struct State {
    var track: Int
    var nextPacket: Int
    var nextSequence: Int
    /// Of the last packet. Before the first one, both clocks of the track's first file are at zero.
    var meeting = Meeting(milliseconds: 0, ptsNanoseconds: 0, arrivalNanoseconds: 0)
    /// Whether the track has a packet before the next one.
    var hasBegun = false
    var packets: [PacketRecord] = []
    var frames: [FrameRecord] = []
    var segments: [SegmentRecord] = []
    var parts: [SegmentTrackRecord] = []
  }

  /// - Returns: the number of added frames. The database stays open.
  func append() throws -> Int {
    let reader = try SessionReader(site, options: ReadOptions(framesPerChain: nil))
    let index = reader.index
    var nextSegment = (index.segments.keys.max() ?? -1) + 1
    var states: [State] = []
    for track in index.tracks {
      var state = try self.state(of: track, index)
      // Sorted by name, which is the order in which the recorder made the files.
      for name in site.mediaOnDisk where RecordedRebuild.track(of: name) == track {
        try take(name, index, &state, nextSegment: &nextSegment)
      }
      states.append(state)
    }
    // One commit: a recovery that is interrupted changes nothing.
    let writer = try StoreWriter(continuing: site.database)
    for state in states {
      writer.replace(state.segments)
      writer.append(state.parts)
      writer.append(state.packets)
      writer.append(state.frames)
    }
    try writer.commit()
    // Not closed: the caller then finds entries and hashes, and closes it.
    try writer.release()
    return states.reduce(0) { $0 + $1.frames.count }
  }

  private func state(of track: Int, _ index: SessionIndex) throws -> State {
    let counts = try index.store.counts(track: track)
    return State(
      track: track, nextPacket: counts.packetEnd, nextSequence: counts.frameEnd)
  }

  private func take(
    _ name: String, _ index: SessionIndex, _ state: inout State, nextSegment: inout Int
  ) throws {
    // A file that cannot be read adds no rows; recovery of the others continues.
    guard let file = try? index.file(name),
      let stream = try? MediaDemuxer(path: file.path).videoStream()
    else { return }
    let all = try packets(of: file, stream)
    guard !all.isEmpty else { return }
    let segments = index.segments.values.filter { $0.file == name }
    let committed = try segments.reduce(0) { try $0 + index.store.packetCount(segment: $1.index) }
    // Media is written before its rows (docs/formats/session.md, "What is durable when"), so the
    // rows are the rows of the file's first packets.
    if let last = all.prefix(committed).last {
      state.meeting = try meeting(
        at: last, index: index, segments: segments, track: state.track)
      state.hasBegun = true
    } else {
      begin(all, stream, &state)
    }
    let rest = all.dropFirst(committed)
    guard !rest.isEmpty else { return }
    let base = try timeBase(index, track: state.track)
    // A segment number is used only if the file has no segment.
    if segments.isEmpty { nextSegment += 1 }
    let segment = self.segment(
      name, segments, file, stream, number: nextSegment - 1, base: base, &state)
    for packet in rest { add(packet, to: segment, stream: stream, base: base, &state) }
  }

  /// - Returns: no packets for a file of which not even one can be read.
  private func packets(
    of file: MediaFile, _ stream: MediaStream
  ) throws -> [PacketRecord] {
    let report = report
    let indexer = PacketIndexer(file: file, streams: [stream]) {
      report(SessionCheck.Progress(done: $0, total: 0))
    }
    do {
      return try indexer.run().packets[stream.index].map(Array.init) ?? []
    } catch is MediaError {
      return []
    }
  }

  /// The last committed packet of a file, on both clocks.
  private func meeting(
    at packet: PacketRecord, index: SessionIndex, segments: [SegmentRecord], track: Int
  ) throws -> Meeting {
    var frame: FrameRecord?
    let store = index.store
    if let last = try store.lastPacket(segments: segments.map(\.index), track: track),
      let sequence = try store.firstSequence(track: track, packet: last)
    {
      frame = try store.frame(FrameID(track: track, sequence: sequence))
    }
    return Meeting(
      milliseconds: packet.pts ?? 0, ptsNanoseconds: frame?.ptsNanoseconds ?? 0,
      arrivalNanoseconds: frame?.arrivalNanoseconds ?? 0)
  }

  /// A file that no row refers to: its clock continues, or restarts after the previous file.
  private func begin(_ packets: [PacketRecord], _ stream: MediaStream, _ state: inout State) {
    guard state.hasBegun, let first = packets.first?.pts, first <= state.meeting.milliseconds else {
      return
    }
    let step = TrackIndexing.frameDuration(stream)
    state.meeting = Meeting(
      milliseconds: first, ptsNanoseconds: state.meeting.ptsNanoseconds &+ step,
      arrivalNanoseconds: state.meeting.arrivalNanoseconds &+ step)
  }

  private func segment(
    _ name: String, _ segments: [SegmentRecord], _ file: MediaFile, _ stream: MediaStream,
    number: Int, base: TimeBase, _ state: inout State
  ) -> Int {
    if var last = segments.max(by: { $0.index < $1.index }) {
      // These packets continue the file's last segment, so it grows: its codec parameters are
      // theirs.
      last.bytes = file.size
      state.segments.append(last)
      return last.index
    }
    state.segments.append(
      SegmentRecord(
        index: number, file: name, startedNanoseconds: state.meeting.ptsNanoseconds,
        isClosed: false, bytes: file.size, reason: "found in the media"))
    let shape = DecodedFact.Shape(
      width: stream.width, height: stream.height,
      format: .init(ffmpegName: stream.pixelFormatName) ?? .i420)
    var part = SegmentTrackRecord(segment: number, track: state.track, of: stream, shape: shape)
    part.timeBase = base
    state.parts.append(part)
    return number
  }

  private func timeBase(_ index: SessionIndex, track: Int) throws -> TimeBase {
    try index.requireTrack(track)
    let parts = index.parts[track] ?? [:]
    return parts.keys.min().flatMap { parts[$0]?.timeBase } ?? TimeBase(1, 1_000)
  }

  private func add(
    _ packet: PacketRecord, to segment: Int, stream: MediaStream, base: TimeBase,
    _ state: inout State
  ) {
    let meeting = state.meeting
    // Wraps: a file may claim any time, and must not end the process.
    let step = ((packet.pts ?? meeting.milliseconds) &- meeting.milliseconds) &* 1_000_000
    let time = meeting.ptsNanoseconds &+ step
    let pts = Timestamp(nanoseconds: time).pts(in: base)
    var row = packet
    (row.track, row.index, row.segment) = (state.track, state.nextPacket, segment)
    // One packet a frame, in order, so decoding and presentation have one time.
    (row.pts, row.dts) = (pts, pts)
    state.packets.append(row)
    state.frames.append(
      FrameRecord(
        track: state.track, sequence: state.nextSequence, pts: pts, ptsNanoseconds: time,
        arrivalNanoseconds: meeting.arrivalNanoseconds &+ step, packet: state.nextPacket,
        assumed: [.arrival]))
    state.nextPacket += 1
    state.nextSequence += 1
    state.meeting = Meeting(
      milliseconds: packet.pts ?? meeting.milliseconds, ptsNanoseconds: time,
      arrivalNanoseconds: meeting.arrivalNanoseconds &+ step)
    state.hasBegun = true
  }
}

extension Timestamp {
  /// The nearest timestamp in a track's time base.
  package func pts(in base: TimeBase) -> Int64 {
    let (value, scale) = (
      Int128(nanoseconds) * Int128(base.denominator), Int128(base.numerator) * 1_000_000_000
    )
    return Int64(clamping: divideToNearest(value, by: scale))
  }
}
