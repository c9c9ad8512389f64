import RetakeBuffers
import RetakeCore
import RetakeRuntime
import RetakeSession
import RetakeStore

/// Writes what was encoded, commit by commit, and closes the session. The writer's thread.
final class RecorderWriting: @unchecked Sendable {
  // @unchecked: only the writer's thread touches it while it runs; the caller reads the outcome
  // after it has joined that thread.
  struct Outcome: Sendable {
    var progress = RecordingProgress()
    var failure: RecordError?
    var isClosed = false
    var status = SessionStatus.clean
    /// Frames that waited in the ring for a trigger that never came.
    var waiting = 0
    /// Rows that could not be written any more, though their media is there.
    var hasUnwrittenRows = false
  }

  private let site: RecordingSite
  private let options: RecorderOptions
  private let machine: Recorder.Machine
  private let pipes: RecorderPipes
  private let report: @Sendable (RecordingProgress) -> Void
  private let writer: SessionWriter
  private let tracks: Int
  private var schedule: CommitSchedule
  private var watch: ClockWatch
  private var meter = RateMeter()
  /// When a database that another process is in is looked at again.
  private var retryNanoseconds: Int64?
  /// nil once it was triggered, or when there is none.
  private var ring: PreTriggerRing?
  private var hasToldShortRing = false
  /// The ring's first frame is the session's: its number is taken from all.
  private var firstSequence: Int?
  private(set) var outcome = Outcome()

  init(
    site: RecordingSite, options: RecorderOptions, machine: Recorder.Machine,
    pipes: RecorderPipes, tracks: Int = 1, report: @escaping @Sendable (RecordingProgress) -> Void
  ) {
    self.site = site
    self.options = options
    self.machine = machine
    self.pipes = pipes
    self.report = report
    writer = SessionWriter(
      site: .init(
        folder: site.folder, makeSink: machine.makeSink,
        requestKey: { pipes.requestKey(track: $0) }),
      store: site.store,
      limits: .init(
        bytesMax: options.segmentBytesMax,
        nanosecondsMax: options.segmentDurationMax.nanoseconds),
      tracks: tracks, spoolRowsMax: machine.spoolRowsMax)
    self.tracks = tracks
    schedule = CommitSchedule(
      intervalNanoseconds: options.commitInterval.nanoseconds,
      rowsMax: RecorderOptions.commitRowsMax)
    watch = ClockWatch(machine.clock.anchor())
    ring = options.ring.map {
      PreTriggerRing(nanoseconds: $0.nanoseconds, bytesMax: pipes.ringBytesMax)
    }
    _ = roomBytes()
  }

  func run() {
    while true {
      let (rows, isClosed) = pipes.encoded.takeAll()
      for row in rows { take(row) }
      if rows.isEmpty {
        guard !isClosed else { break }
        wait()
      }
      commitIfDue()
    }
    finish()
  }

  private func wait() {
    let deadlines = [schedule.deadlineNanoseconds, retryNanoseconds].compactMap(\.self)
    guard let deadline = deadlines.min() else { return pipes.encoded.arrived.wait() }
    machine.clock.wait(untilNanoseconds: deadline, or: pipes.encoded.arrived)
  }

  private func take(_ row: RecordedRow) {
    if case .frame(_, let encoded?) = row { pipes.encoded.finish(encoded.packet.size) }
    if pipes.isTriggered { openRing() }
    guard ring == nil else {
      ring?.add(row)
      return tellShortRing()
    }
    write(row)
  }

  /// Once: it reaches back less far than somebody counts on.
  private func tellShortRing() {
    guard ring?.isShort == true, !hasToldShortRing else { return }
    hasToldShortRing = true
    var progress = writer.progress
    progress.ringIsShort = true
    report(progress)
  }

  private func write(_ row: RecordedRow) {
    writer.add(renumbered(row))
    schedule.rowAdded(nowNanoseconds: machine.clock.monotonicNanoseconds)
    commitIfDue()
  }

  /// Sequences count from 0 in a session, whatever left the ring before.
  private func renumbered(_ row: RecordedRow) -> RecordedRow {
    guard case .frame(var record, let encoded) = row else { return row }
    let first = firstSequence ?? record.sequence
    firstSequence = first
    record.sequence -= first
    return .frame(record, encoded)
  }

  private func openRing() {
    guard var full = ring else { return }
    ring = nil
    writer.pass(full.passedFrames)
    let isShort = full.isShort
    for row in full.take() { write(row) }
    guard isShort else { return }
    let json = JSONValue.object(["bytesMax": .integer(Int64(pipes.ringBytesMax))])
    writer.add(
      EventRecord(
        ordinal: 0, timeNanoseconds: pipes.sessionTime, source: "recorder", kind: "ring.short",
        json: json.canonicalText))
  }

  private func commitIfDue() {
    let now = machine.clock.monotonicNanoseconds
    let isRetry = retryNanoseconds.map { now >= $0 } ?? false
    guard isRetry || schedule.isDue(nowNanoseconds: now, bytes: writer.pendingBytes) else { return }
    commit()
  }

  private func commit() {
    watchClock()
    let isCommitted = writer.commit(at: pipes.sessionTime)
    schedule.committed()
    let room = roomBytes()
    let rate = meter.rate(
      nowNanoseconds: machine.clock.monotonicNanoseconds,
      frames: writer.progress.frames.captured, bytes: writer.progress.mediaBytes, roomBytes: room)
    writer.setRate(rate)
    outcome.progress = writer.progress
    retryNanoseconds = writer.isWaiting ? nextTry : nil
    if isCommitted || writer.isWaiting { report(writer.progress) }
    if let failure = writer.failure { stop(failure) }
    checkReserve(room)
  }

  private var nextTry: Int64 {
    machine.clock.monotonicNanoseconds + options.commitInterval.nanoseconds
  }

  private func stop(_ failure: RecordError) {
    outcome.failure = outcome.failure ?? failure
    pipes.loseFrames(cause: RecordCause.lostWrite)
    pipes.end(.failed, failure: failure)
  }

  /// What the disk holds above the reserve; nil when nobody can say.
  private func roomBytes() -> Int64? {
    let room = machine.freeBytes(site.folder.path).map { $0 - options.reserveBytes }
    if let room { schedule.setRoom(bytes: room) }
    return room
  }

  private func checkReserve(_ room: Int64?) {
    guard let room, room < 0 else { return }
    writer.keepReserve()
    pipes.loseFrames(cause: RecordCause.shedReserve)
    pipes.end(
      .failed,
      failure: .diskReserve(
        path: site.folder.path, freeBytes: room + options.reserveBytes,
        reserveBytes: options.reserveBytes))
  }

  /// Unpaced sessions are the same every time, so nothing of the machine goes into them.
  private func watchClock() {
    guard options.pace == .realtime else { return }
    for leap in watch.leaps(at: machine.clock.anchor()) {
      let (kind, nanoseconds) =
        switch leap {
        case .date(let nanoseconds): ("clock.date", nanoseconds)
        case .suspended(let nanoseconds): ("clock.suspended", nanoseconds)
        }
      writer.add(
        EventRecord(
          ordinal: 0, timeNanoseconds: pipes.sessionTime, source: "recorder", kind: kind,
          json: JSONValue.object(["nanoseconds": .integer(nanoseconds)]).canonicalText))
    }
  }

  /// The last commit, the container's end, the hashes that are missing, and the database.
  private func finish() {
    if pipes.isTriggered { openRing() }
    if let ring {
      (outcome.progress.passed, outcome.waiting) = (ring.passedFrames, ring.frameCount)
    }
    guard ring == nil else { return }
    writer.finishMedia(at: pipes.sessionTime)
    waitForDatabase()
    outcome.progress = writer.progress
    outcome.failure = outcome.failure ?? writer.failure
    if case .databaseHeld = writer.failure {
      (outcome.hasUnwrittenRows, outcome.status) = (true, .recovered)
      return
    }
    guard writer.progress.frames.captured > 0 else { return }
    let missing = writer.progress.frames.missing
    let losses = missing.keys.sorted().map { "\(missing[$0, default: 0]) frames: \($0)" }
    outcome.status = losses.isEmpty ? .clean : .lossy
    var facts = [
      ("status", outcome.status.rawValue),
      ("ended", (pipes.reason ?? .sourceEnded).rawValue),
    ]
    if !losses.isEmpty { facts.append(("losses", losses.joined(separator: "; "))) }
    do throws(StoreError) {
      try close(facts, hashes: missingHashes())
      outcome.isClosed = true
      outcome.progress = writer.progress
      outcome.progress.session = site.folder.name
      outcome.progress.path = site.folder.path
      outcome.progress.status = outcome.status
      report(outcome.progress)
    } catch {
      outcome.failure = outcome.failure ?? RecordError(passing: error)
      outcome.status = .recovered
    }
  }

  /// At its end a recording waits so long for a database that another process is in.
  private static let databaseNanosecondsMax: Int64 = 60_000_000_000

  /// Ends: somebody else leaves the database, or the time is over.
  private func waitForDatabase() {
    let deadline = machine.clock.monotonicNanoseconds + Self.databaseNanosecondsMax
    while writer.isWaiting, writer.failure == nil {
      guard machine.clock.monotonicNanoseconds < deadline else {
        return writer.giveUpDatabase(site.folder.database)
      }
      report(writer.progress)
      machine.clock.wait(untilNanoseconds: nextTry, or: Bell())
      writer.finishMedia(at: pipes.sessionTime)
    }
  }

  /// Somebody may have come into the database since the last commit.
  private func close(
    _ facts: [(key: String, value: String)], hashes: [FrameRecord]
  ) throws(StoreError) {
    let deadline = machine.clock.monotonicNanoseconds + Self.databaseNanosecondsMax
    writer.prepareClose(facts, hashes: hashes)
    // Ends: somebody else leaves the database, or the time is over.
    while true {
      do throws(StoreError) {
        return try writer.close()
      } catch {
        guard case .busy(_, let holder) = error, machine.clock.monotonicNanoseconds < deadline
        else { throw error }
        var progress = writer.progress
        progress.databaseHolder = holder.map { "\($0)" } ?? "another program"
        report(progress)
        machine.clock.wait(untilNanoseconds: nextTry, or: Bell())
      }
    }
  }

  /// Time for hashes at the end: a recording is closed within two seconds.
  private static let hashNanosecondsMax: Int64 = 1_000_000_000

  private func missingHashes() -> [FrameRecord] {
    guard writer.missingHashes > 0, let reader = try? SessionReader(opening: site.folder.path)
    else { return [] }
    let deadline = machine.clock.monotonicNanoseconds + Self.hashNanosecondsMax
    return (0..<tracks).flatMap { track in
      let found = try? MissingPixels(reader).find(track: track) {
        machine.clock.monotonicNanoseconds < deadline
      }
      return found ?? []
    }
  }
}
