import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore

/// Writes media and rows, and makes them durable together. Only the writer's thread uses it.
///
/// The commit rule: close the cluster, flush, sync the media, then one transaction. A failed
/// operation is never retried.
final class SessionWriter {
  struct Site {
    var folder: SessionFolder
    var makeSink: @Sendable (String) -> SinkResult
    /// Requests a key frame from the track's encoder.
    var requestKey: (Int) -> Void
    /// Whether the directory entry of the database's log file is known to be durable.
    var hasDurableLog = true
    var synchronizeFolder: (String) -> Int32 = FileSystem.synchronizeFolder
  }

  let site: Site
  let store: StoreWriter
  /// By track.
  var lanes: [TrackLane]
  private var nextSegment = 0
  var nextEvent = 0
  var batch = CommitBatch()
  /// Rows that the locked database could not store, with their media on the disk; oldest first.
  var spool: [CommitBatch] = []
  var wait: DatabaseWait?
  let spoolRowsMax: Int
  private let segmentsMax: Int
  var hasSegment = false
  var progress = RecordingProgress()
  /// Set once; after that, the writer records no more rows.
  var failure: (any CodedError)?
  /// Whether the database rejected a commit; no other commit is attempted.
  var isStoreLost = false
  private var isAtReserve = false
  /// False after a wait for the database, which may have a new log file.
  var hasDurableLog: Bool
  /// Number of frames with pixels whose hash is not known yet.
  var missingHashes = 0
  /// The files that the session's rows refer to; at most `segmentsMax`.
  private var media: [(path: String, identity: [UInt64])] = []
  /// Why the pixels of committed frames cannot be trusted.
  var damaged: [FrameID: String] = [:]

  init(
    site: Site, store: StoreWriter, limits: SegmentStateMachine.Limits, tracks: Int = 1,
    spoolRowsMax: Int = RecorderOptions.spoolRowsMax,
    segmentsMax: Int = StoreReader.segmentCountMax
  ) {
    (self.spoolRowsMax, self.segmentsMax) = (spoolRowsMax, segmentsMax)
    self.site = site
    hasDurableLog = site.hasDurableLog
    self.store = store
    lanes = (0..<tracks).map { TrackLane(track: $0, limits: limits) }
    progress.tracks = tracks > 1 ? (0..<tracks).map { RecordingProgress.Track(track: $0) } : nil
  }

  /// Whether another process has locked the database. The rows wait, and the next commit retries.
  var isWaiting: Bool { wait != nil }

  /// Bytes of media that wait for the next commit.
  var pendingBytes: Int64 { batch.packetBytes }

  /// From now on only rows of frames are written, because their media would use the disk's reserve.
  func keepReserve() {
    isAtReserve = true
  }

  /// Rates for the next progress report.
  func setRate(_ rate: RecordingRate?) {
    progress.rate = rate
  }

  /// Counts of the compared frames for the next progress report; `nil` without a shadow pipeline.
  func setShadow(_ counts: ShadowProgress?) {
    progress.shadow = counts
  }

  /// Counts frames that were captured before the session begins.
  func pass(_ frames: Int) {
    progress.passed += frames
  }

  func add(_ row: RecordedRow) {
    // No commit follows, so more rows would only fill the memory.
    guard !isStoreLost else {
      if case .frame = row { lose(1) }
      return
    }
    switch row {
    case .event(let event): add(event)
    case .run(let rows): batch.runs.append(rows)
    case .compared: preconditionFailure("the results of a compared frame come as rows of a run")
    case .frame(var record, let encoded):
      if let encoded { place(encoded, of: &record) }
      batch.frames.append(record)
    }
  }

  /// Counts frames whose rows are not written.
  func lose(_ frames: Int) {
    guard frames > 0 else { return }
    progress.unwritten = (progress.unwritten ?? 0) + frames
  }

  /// Media files that no longer have their names, or other files have them.
  var changedMedia: [String] {
    media.filter { FileSystem.identity(of: $0.path) != $0.identity }.map(\.path)
  }

  func add(_ event: EventRecord) {
    var event = event
    event.ordinal = nextEvent
    nextEvent += 1
    batch.events.append(event)
  }

  /// Writes a frame's packet into its segment, or records why the frame has no pixels.
  private func place(_ encoded: EncodedFrame, of record: inout FrameRecord) {
    guard failure == nil, !isAtReserve else {
      record.cause = failure == nil ? RecordCause.shedReserve : RecordCause.lostWrite
      return
    }
    let track = record.track
    let isKey = encoded.packet.flags.contains(.key) || !encoded.rollIn.isEmpty
    let action = lanes[track].segments.packet(
      epoch: encoded.epoch.number, shape: encoded.epoch.shape, isKey: isKey,
      timeNanoseconds: record.ptsNanoseconds, bytes: lanes[track].current?.bytes ?? 0)
    do throws(SegmentFailed) {
      switch action {
      case .lose(let cause):
        record.cause = cause
        // With each lost packet: a request is used up when a frame is encoded, even if the packet
        // that it asked for never gets here.
        site.requestKey(track)
        return
      case .open(let reason):
        guard nextSegment < segmentsMax else {
          // A session with more of them could not be opened.
          failure = RecordError.tooManySegments(path: site.folder.path, segmentsMax: segmentsMax)
          record.cause = RecordCause.lostWrite
          return
        }
        // A batch describes one new segment at most, so an earlier one has to be committed before.
        commit(at: record.ptsNanoseconds)
        guard failure == nil else {
          record.cause = RecordCause.lostWrite
          return
        }
        try open(track, encoded.epoch, at: record.ptsNanoseconds, reason: reason)
      case .write: break
      }
      try write(encoded, of: &record)
    } catch {
      record.cause = RecordCause.lostWrite
      fail(track, error.failure, at: record.arrivalNanoseconds)
    }
  }

  private func write(
    _ encoded: EncodedFrame, of record: inout FrameRecord
  ) throws(SegmentFailed) {
    guard lanes[record.track].current != nil else { return }
    for packet in encoded.rollIn { try write(packet, pts: nil, track: record.track) }
    let index = lanes[record.track].nextPacket
    try write(encoded.packet, pts: record.pts, track: record.track)
    record.packet = index
    // The witness decoded from the entry on, so it returns exactly these pixels, unless a packet
    // between the two was lost since. Other frames' hashes and entries are found at the close.
    record.cause = record.cause ?? encoded.doubt
    if let sight = encoded.sight, record.cause == nil,
      index - sight.distance >= lanes[record.track].stretch
    {
      record.pixelHash = sight.digest
      record.entry = index - sight.distance
    }
  }

  /// - Parameter pts: The source's own time; the container's milliseconds are for the muxer alone.
  private func write(_ packet: MediaPacket, pts: Int64?, track: Int) throws(SegmentFailed) {
    guard let segment = lanes[track].current else { return }
    let ordinal = segment.packetCount
    try segment.write(packet)
    batch.add(
      PacketRecord(
        track: track, index: lanes[track].nextPacket, segment: segment.index, ordinal: ordinal,
        // The two times are equal because no preset reorders frames.
        pts: pts, dts: pts, duration: packet.duration,
        flags: packet.flags.contains(.key) ? .key : [], size: packet.size, digest: packet.digest,
        sideData: packet.sideData))
    lanes[track].nextPacket += 1
  }

  private func open(
    _ track: Int, _ epoch: StreamEpoch, at time: Int64, reason: String?
  ) throws(SegmentFailed) {
    finishSegment(track, at: time)
    let index = nextSegment
    // Before the attempt: if the file cannot be opened, `fail` names the segment by this number.
    nextSegment += 1
    let segment = try SegmentFile(
      index: index, track: track, folder: site.folder.path, epoch: epoch,
      startedNanoseconds: time, makeSink: site.makeSink)
    if let identity = segment.identity { media.append((segment.path, identity)) }
    lanes[track].current = segment
    lanes[track].currentIsCommitted = false
    let reason = lanes[track].segments.opened(
      epoch: epoch.number, timeNanoseconds: time, reason: reason)
    lanes[track].reason = reason
    if reason != SegmentStateMachine.limitReason { lanes[track].stretch = lanes[track].nextPacket }
    batch.segment = SegmentRecord(
      index: index, file: segment.file, startedNanoseconds: time, isClosed: false,
      bytes: 0, reason: reason)
    batch.segmentTrack = SegmentTrackRecord(segment: index, track: track, epoch: epoch)
  }

  /// Ends the container. Committed data is safe whether or not this succeeds.
  func finishSegment(_ track: Int, at time: Int64) {
    let lane = lanes[track]
    guard let segment = lane.current else { return }
    lanes[track].current = nil
    do throws(SegmentFailed) {
      try segment.finish()
      if lane.currentIsCommitted {
        batch.changedSegments.append(lane.row(of: segment, isClosed: true))
      }
    } catch {
      note(error.failure, track: track, segment: segment.index, lostFrames: 0, at: time)
    }
  }

  /// Abandons the track's segment, with all of its uncommitted packets.
  func fail(_ track: Int, _ failure: WriteFailure, at time: Int64) {
    let segment = lanes[track].current
    lanes[track].current = nil
    let remains: SegmentFile.Remains = failure.isDiskFull ? .committedBytes : .allBytes
    segment?.abandon(keeping: lanes[track].currentIsCommitted ? remains : .nothing)
    if !lanes[track].currentIsCommitted { media.removeAll { $0.path == segment?.path } }
    let lost = batch.losePackets(of: track, cause: RecordCause.lostWrite)
    // The numbers of lost packets are given again, because a track's packets are numbered without
    // gaps (docs/formats/session.md).
    lanes[track].nextPacket = lanes[track].committedPackets
    note(
      failure, track: track, segment: segment?.index ?? nextSegment - 1, lostFrames: lost,
      at: time)
    let consequence = lanes[track].segments.failed(failure, bytes: segment?.bytes ?? 0)
    if consequence == .stop, self.failure == nil {
      self.failure = RecordError.writeFailed(
        file: site.folder.path + "/" + failure.file, step: failure.step.rawValue,
        cause: failure.cause)
    }
    site.requestKey(track)
  }

  private func note(
    _ failure: WriteFailure, track: Int, segment: Int, lostFrames: Int, at time: Int64
  ) {
    let json = JSONValue.object([
      "segment": .integer(Int64(segment)), "step": .string(failure.step.rawValue),
      "errorNumber": .integer(Int64(failure.errorNumber)),
      "lostFrames": .integer(Int64(lostFrames)),
    ])
    add(
      EventRecord(
        ordinal: 0, timeNanoseconds: time, track: track, source: "recorder",
        kind: "segment.abandoned", json: json.canonicalText))
  }
}
