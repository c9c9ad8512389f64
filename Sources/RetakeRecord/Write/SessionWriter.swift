import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore

/// A row on its way to the database.
enum RecordedRow: Sendable {
  case frame(FrameRecord, EncodedFrame?)
  case event(EventRecord)
  case run(RunRows)
}

/// Writes media and rows, and makes them durable together. The writer thread alone uses it.
///
/// The commit rule: close the cluster, flush, sync the media, then one transaction. What failed is
/// never tried again.
final class SessionWriter {
  struct Site {
    var folder: SessionFolder
    var makeSink: @Sendable (String) -> SinkResult
    /// Somebody must ask the encoder for a key frame.
    var requestKey: () -> Void
  }

  private let site: Site
  private let store: StoreWriter
  private let track = 0
  private var segments: SegmentStateMachine
  private var current: SegmentFile?
  private var currentIsCommitted = false
  private var nextSegment = 0
  private var nextPacket = 0
  private var committedPackets = 0
  private var keyPacket = 0
  private var nextEvent = 0
  private var batch = CommitBatch()
  private var digest = DigestHasher()
  private(set) var progress = RecordingProgress()
  /// Set once; nothing more is worth recording then.
  private(set) var failure: RecordError?
  /// The database refused a commit: it takes no other.
  private var isStoreLost = false
  /// Frames with pixels whose hash is not known yet.
  private(set) var missingHashes = 0

  init(site: Site, store: StoreWriter, limits: SegmentStateMachine.Limits) {
    self.site = site
    self.store = store
    segments = SegmentStateMachine(limits: limits)
  }

  var pendingRows: Int { batch.rowCount }

  func add(_ row: RecordedRow) {
    guard !isStoreLost else { return }
    switch row {
    case .event(let event): add(event)
    case .run(let rows): batch.runs.append(rows)
    case .frame(var record, let encoded):
      if let encoded { place(encoded, of: &record) }
      batch.frames.append(record)
    }
  }

  func add(_ event: EventRecord) {
    var event = event
    event.ordinal = nextEvent
    nextEvent += 1
    batch.events.append(event)
  }

  /// Writes a frame's packet into the segment that it belongs to, or says why it has no pixels.
  private func place(_ encoded: EncodedFrame, of record: inout FrameRecord) {
    guard failure == nil else {
      record.cause = RecordCause.lostWrite
      return
    }
    let isKey = encoded.packet.flags.contains(.key)
    let action = segments.packet(
      epoch: encoded.epoch.number, shape: encoded.epoch.shape, isKey: isKey,
      timeNanoseconds: record.ptsNanoseconds, bytes: current?.bytes ?? 0)
    if segments.wantsKey { site.requestKey() }
    do throws(SegmentFailed) {
      switch action {
      case .lose(let cause):
        record.cause = cause
        return
      case .open(let reason): try open(encoded.epoch, at: record.ptsNanoseconds, reason: reason)
      case .write: break
      }
      try write(encoded, isKey: isKey, of: &record)
    } catch {
      record.cause = RecordCause.lostWrite
      fail(error.failure, at: record.arrivalNanoseconds)
    }
  }

  private func write(
    _ encoded: EncodedFrame, isKey: Bool, of record: inout FrameRecord
  ) throws(SegmentFailed) {
    guard let segment = current else { return }
    let ordinal = segment.packetCount
    try segment.write(encoded.packet)
    if isKey { keyPacket = nextPacket }
    record.packet = nextPacket
    if let hash = encoded.pixelHash {
      record.pixelHash = hash
      record.entry = keyPacket
    }
    batch.packets.append(
      PacketRecord(
        track: track, index: nextPacket, segment: segment.index, ordinal: ordinal,
        pts: record.pts, dts: record.pts, duration: encoded.packet.duration,
        flags: isKey ? .key : [], size: encoded.packet.size, digest: encoded.packet.digest,
        sideData: encoded.packet.sideData))
    nextPacket += 1
  }

  private func open(
    _ epoch: StreamEpoch, at time: Int64, reason: String?
  ) throws(SegmentFailed) {
    commit(at: time)
    finishSegment(at: time)
    let index = nextSegment
    nextSegment += 1
    let segment = try SegmentFile(
      index: index, folder: site.folder.path, epoch: epoch, startedNanoseconds: time,
      makeSink: site.makeSink)
    current = segment
    currentIsCommitted = false
    batch.segment = SegmentRecord(
      index: index, file: segment.file, startedNanoseconds: time, isClosed: false,
      bytes: 0, reason: reason)
    batch.segmentTrack = SegmentTrackRecord(segment: index, track: track, epoch: epoch)
    segmentReason = reason
  }

  private var segmentReason: String?

  private func row(of segment: SegmentFile, isClosed: Bool) -> SegmentRecord {
    SegmentRecord(
      index: segment.index, file: segment.file, startedNanoseconds: segment.startedNanoseconds,
      isClosed: isClosed, bytes: segment.bytes, reason: segmentReason)
  }

  /// The container's end. What is committed is safe whether or not this succeeds.
  private func finishSegment(at time: Int64) {
    guard let segment = current else { return }
    current = nil
    do throws(SegmentFailed) {
      try segment.finish()
      if currentIsCommitted { batch.changedSegments.append(row(of: segment, isClosed: true)) }
    } catch {
      note(error.failure, segment: segment.index, lostFrames: 0, at: time)
    }
  }

  /// Gives up the segment with all that is not committed of it.
  private func fail(_ failure: WriteFailure, at time: Int64) {
    let segment = current
    current = nil
    segment?.abandon(removing: !currentIsCommitted)
    let lost = batch.losePackets(cause: RecordCause.lostWrite)
    nextPacket = committedPackets
    note(failure, segment: segment?.index ?? nextSegment - 1, lostFrames: lost, at: time)
    if segments.failed(failure) == .stop, self.failure == nil {
      self.failure = .writeFailed(
        file: site.folder.path + "/" + failure.file, step: failure.step.rawValue,
        cause: FileSystem.text(failure.errorNumber))
    }
    site.requestKey()
  }

  private func note(_ failure: WriteFailure, segment: Int, lostFrames: Int, at time: Int64) {
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

  /// Makes all rows durable, with the media that they speak of.
  ///
  /// - Returns: false when there was nothing to commit, or `failure` says why it could not be.
  @discardableResult
  func commit(at time: Int64) -> Bool {
    guard !batch.isEmpty, !isStoreLost else { return false }
    synchroniseMedia(at: time)
    batch.append(to: store)
    do throws(StoreError) {
      let commit = try store.commit()
      account(commit, at: time)
      return true
    } catch {
      failure = failure ?? RecordError(passing: error)
      isStoreLost = true
      batch = CommitBatch()
      return false
    }
  }

  private func synchroniseMedia(at time: Int64) {
    guard let segment = current, !batch.packets.isEmpty else { return }
    do throws(SegmentFailed) {
      let places = try segment.synchronise(placing: batch.packets)
      for (row, place) in places.enumerated() { batch.packets[row].offset = place }
      if currentIsCommitted {
        batch.changedSegments.append(row(of: segment, isClosed: false))
      } else {
        batch.segment?.bytes = segment.bytes
      }
      segments.committed()
    } catch {
      fail(error.failure, at: time)
    }
  }

  private func account(_ commit: StoreWriter.Commit, at time: Int64) {
    var digests = batch.packets[...]
    for frame in batch.frames {
      progress.frames.captured += 1
      if frame.packet != nil, let packet = digests.popFirst() {
        progress.frames.recorded += 1
        if frame.pixelHash == nil { missingHashes += 1 }
        digest.append(frame.sequence)
        digest.append(packet.digest)
      } else if let cause = frame.cause {
        progress.frames.missing[cause, default: 0] += 1
      }
      progress.lastSequence = frame.sequence
      progress.lastArrivalNanoseconds = frame.arrivalNanoseconds
    }
    if batch.segment != nil {
      progress.segments += 1
      currentIsCommitted = true
    }
    progress.packetDigest = digest.finish()
    progress.commit = commit.ordinal
    progress.timeNanoseconds = time
    progress.events = nextEvent
    progress.mediaBytes += batch.packets.reduce(0) { $0 + Int64($1.size) }
    committedPackets = nextPacket
    batch = CommitBatch()
  }

  /// Commits what waits and ends the segment.
  func finishMedia(at time: Int64) {
    commit(at: time)
    finishSegment(at: time)
    commit(at: time)
  }

  /// Marks the database closed, with the facts that are known only now.
  func close(_ facts: [(key: String, value: String)], hashes: [FrameRecord]) throws(StoreError) {
    for fact in facts { store.setMeta(fact.key, fact.value) }
    store.replace(hashes)
    progress.commit = try store.close().ordinal
    progress.closed = true
  }
}

extension SegmentTrackRecord {
  init(segment: Int, track: Int, epoch: StreamEpoch) {
    let stream = epoch.stream
    self.init(
      segment: segment, track: track, streamIndex: 0, codec: stream.storedCodec,
      profile: stream.profile, extradata: stream.extradata.isEmpty ? nil : stream.extradata,
      width: stream.width, height: stream.height, pixelFormat: stream.pixelFormatName,
      range: stream.range.rawValue, matrix: stream.matrix.rawValue,
      rotationDegrees: stream.rotationDegrees,
      aspectNumerator: Int(stream.sampleAspect.numerator),
      aspectDenominator: Int(stream.sampleAspect.denominator), timeBase: stream.timeBase,
      delay: stream.delay)
  }
}
