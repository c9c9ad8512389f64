import RetakeCore
import RetakeRuntime
import RetakeSession
import RetakeStore

/// Writes encoded frames, commit by commit, and closes the session. Runs on the writer's thread.
final class RecorderWriting: @unchecked Sendable {
  // @unchecked: only the writer's thread uses it while it runs. The caller reads the outcome after
  // joining that thread.
  struct Outcome: Sendable {
    var progress = RecordingProgress()
    var failure: (any CodedError)?
    var isClosed = false
    var status = SessionStatus.clean
    /// Frames in the ring when the recording ended without a trigger.
    var waiting = 0
    /// Whether rows could not be written although their media is on the disk.
    var hasUnwrittenRows = false
  }

  private let site: RecordingSite
  private let options: RecorderOptions
  private let machine: Recorder.Machine
  private let pipes: RecorderPipes
  private let report: @Sendable (RecordingProgress) -> Void
  private let writer: SessionWriter
  private let tracks: Int
  /// Of the session's folder.
  private let identity: [UInt64]?
  private var schedule: CommitSchedule
  private var watch: ClockWatch
  private var meter = RateMeter()
  /// When to try the database again that another process has locked.
  private var retryNanoseconds: Int64?
  /// nil after the trigger, or without a ring.
  private var ring: PreTriggerRing?
  /// nil without a shadow pipeline; it then replaces the ring.
  private var moments: RecordedMoments?
  private var hasToldShortRing = false
  /// Sequence of the ring's first written frame. It is subtracted from all sequences.
  private var firstSequence: Int?
  private(set) var outcome = Outcome()

  init(
    site: RecordingSite, options: RecorderOptions, machine: Recorder.Machine,
    pipes: RecorderPipes, tracks: Int = 1, moments: RecordedMoments? = nil,
    report: @escaping @Sendable (RecordingProgress) -> Void
  ) {
    self.site = site
    self.options = options
    self.machine = machine
    self.pipes = pipes
    self.report = report
    writer = SessionWriter(
      site: .init(
        folder: site.folder, makeSink: machine.makeSink,
        requestKey: { pipes.requestKey(track: $0) }, hasDurableLog: site.hasDurableLog),
      store: site.store,
      limits: .init(
        bytesMax: options.segmentBytesMax,
        nanosecondsMax: options.segmentDurationMax.nanoseconds),
      tracks: tracks, spoolRowsMax: machine.spoolRowsMax,
      segmentsMax: machine.segmentsMax)
    self.tracks = tracks
    identity = FileSystem.identity(of: site.folder.path)
    schedule = CommitSchedule(
      intervalNanoseconds: options.commitInterval.nanoseconds,
      rowsMax: RecorderOptions.commitRowsMax)
    watch = ClockWatch(machine.clock.anchor())
    self.moments = moments
    if moments == nil {
      ring = options.ring.map {
        PreTriggerRing(nanoseconds: $0.nanoseconds, bytesMax: pipes.ringBytesMax)
      }
    }
    // For its effect on the schedule: on a disk that is nearly full the first commit must be small,
    // too.
    _ = roomBytes()
  }

  func run() {
    while true {
      let (rows, isClosed) = pipes.encoded.takeAll()
      for row in rows { take(row) }
      if rows.isEmpty {
        // Only the encoder's thread adds rows, and it closes the queue last, so no row can follow.
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
    // The queue's budget ends here. From now on the ring or the commit schedule bounds these bytes.
    if case .frame(_, let encoded?) = row { pipes.encoded.finish(encoded.packet.size) }
    // Before this row, so that the ring's older rows are written first.
    if pipes.isTriggered { openRing() }
    if let rows = moments?.add(row) {
      keep(rows)
      return tellShortRing()
    }
    guard ring == nil else {
      ring?.add(row)
      return tellShortRing()
    }
    write(renumbered(row))
  }

  /// Reports once that the ring reaches back less far than requested.
  private func tellShortRing() {
    guard ring?.isShort ?? moments?.ring.isShort == true, !hasToldShortRing else { return }
    hasToldShortRing = true
    if moments != nil { addShortRing() }
    // A ring has no commits yet, so no report of a commit would say it.
    var progress = writer.progress
    progress.ringIsShort = true
    report(progress)
  }

  private func write(_ row: RecordedRow) {
    writer.add(row)
    schedule.rowAdded(nowNanoseconds: machine.clock.monotonicNanoseconds)
    // After each row and not after all that were taken: rows pile up during a slow sync, and all of
    // them together could exceed the bounds of one commit.
    commitIfDue()
  }

  /// Sequences in a session start at 0, even if frames left the ring before.
  private func renumbered(_ row: RecordedRow) -> RecordedRow {
    guard case .frame(var record, let encoded) = row else { return row }
    // Only frames have sequences here: events have no sequence, and a ring excludes a pipeline's
    // rows.
    let first = firstSequence ?? record.sequence
    firstSequence = first
    record.sequence -= first
    return .frame(record, encoded)
  }

  /// The span of a ring in one commit, by the times of its frames. It is shorter than a tail that
  /// the check explains by a crash (`RecordingCheck`).
  private static let ringCommitNanoseconds: Int64 = 1_000_000_000

  /// Writes the ring's rows and commits them on the way: rows that are only in memory are lost when
  /// the recorder is killed, and the schedule counts the time since the rows came from the ring.
  private func openRing() {
    if let rows = moments?.keepAll() { return keep(rows) }
    guard var full = ring else { return }
    ring = nil
    writer.pass(full.passedFrames)
    if full.isShort { addShortRing() }
    writeFromRing(full.take().map(renumbered))
  }

  private func writeFromRing(_ rows: [RecordedRow]) {
    // nil before the first commit, which writes the session's track and clock.
    var committed: Int64?
    for row in rows {
      write(row)
      guard case .frame(let record, _) = row, retryNanoseconds == nil else { continue }
      let arrival = record.arrivalNanoseconds
      if let last = committed, arrival - last < Self.ringCommitNanoseconds { continue }
      committed = arrival
      commit()
    }
    if retryNanoseconds == nil { commit() }
  }

  /// Writes rows of moments. Many rows come from the ring, when a moment begins; one row at a time
  /// comes during a moment.
  private func keep(_ rows: [RecordedRow]) {
    writer.setShadow(moments?.ring.counts)
    guard rows.count > Self.liveRowsMax else { return rows.forEach(write) }
    writeFromRing(rows)
  }

  /// The rows of two runs, a frame, its results and an event.
  private static let liveRowsMax = 5

  private func addShortRing() {
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
    // First, so that the event of a leap is committed together with the rows that it explains.
    watchClock()
    let isCommitted = writer.commit(at: pipes.sessionTime)
    // Also when the database is locked: `retryNanoseconds` then sets the pace. A schedule that
    // stayed due would try again after each row.
    schedule.committed()
    // After the commit, so that the bytes it has just written count.
    let room = roomBytes()
    let rate = meter.rate(
      nowNanoseconds: machine.clock.monotonicNanoseconds,
      frames: writer.progress.frames.captured, bytes: writer.progress.mediaBytes, roomBytes: room)
    writer.setRate(rate)
    outcome.progress = writer.progress
    retryNanoseconds = writer.isWaiting ? nextTry : nil
    // While rows wait, the reports name the program that has locked the database
    // (docs/recording.md).
    if isCommitted || writer.isWaiting { report(writer.progress) }
    if let failure = writer.failure { stop(failure) }
    // After `stop`, because the first reason is kept: a failed write says more than a full disk.
    checkReserve(room)
  }

  private var nextTry: Int64 {
    machine.clock.monotonicNanoseconds + options.commitInterval.nanoseconds
  }

  private func stop(_ failure: any CodedError) {
    // The first failure is the cause; later failures are consequences.
    outcome.failure = outcome.failure ?? failure
    pipes.loseFrames(cause: RecordCause.lostWrite)
    pipes.end(.failed, failure: failure)
  }

  /// Free bytes of the disk above the reserve; nil when unknown.
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
      failure: RecordError.diskReserve(
        path: site.folder.path, freeBytes: room + options.reserveBytes,
        reserveBytes: options.reserveBytes))
  }

  /// Unpaced sessions are reproducible, so they have no events of the machine.
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

  /// Makes the last commit, ends the containers, adds missing hashes and closes the database.
  private func finish() {
    // The writer checks for the trigger only when a row comes, and the trigger may have come after
    // the last row.
    if pipes.isTriggered { openRing() }
    if let ring {
      (outcome.progress.passed, outcome.waiting) = (ring.passedFrames, ring.frameCount)
    }
    if let kept = moments?.ring {
      writer.pass(kept.passedFrames + kept.frameCount)
      writer.setShadow(kept.counts)
      (outcome.progress, outcome.waiting) = (writer.progress, kept.frameCount)
    }
    // The ring was never written, and the caller discards the folder.
    guard ring == nil, moments?.ring.hasKept ?? true else { return }
    writer.finishMedia(at: pipes.sessionTime)
    waitForDatabase()
    outcome.progress = writer.progress
    outcome.failure = outcome.failure ?? writer.failure
    guard FileSystem.identity(of: site.folder.path) == identity else {
      // The cause of any other failure. Nothing is written to a folder that now has the name.
      outcome.failure = RecordError.folderMoved(path: site.folder.path)
      outcome.status = .unclosed
      return
    }
    let changed = writer.changedMedia
    if !changed.isEmpty {
      outcome.failure = outcome.failure ?? RecordError.mediaChanged(files: changed)
    }
    // The media is complete and only its rows are missing: `session recover --from-media` makes
    // them again, so the caller must keep the folder.
    if case RecordError.databaseHeld? = writer.failure {
      (outcome.hasUnwrittenRows, outcome.status) = (true, .unclosed)
      return
    }
    guard writer.progress.frames.captured > 0 else { return }
    let found = settled(missingHashes())
    let standing = standing(with: found, changed: changed)
    outcome.status = standing.status
    var facts = standing.facts
    facts += [
      ("ended", (pipes.reason ?? .sourceEnded).rawValue),
      (FootageFact.key, FootageFact.stored(pipes.remarks)),
    ]
    do {
      try close(facts, hashes: found)
      outcome.isClosed = true
      outcome.progress = writer.progress
      outcome.progress.session = site.folder.name
      outcome.progress.path = site.folder.path
      outcome.progress.status = outcome.status
      report(outcome.progress)
    } catch {
      // All frames are committed. Only the data of the close is missing, and `session recover` adds
      // it.
      outcome.failure = outcome.failure ?? error.coded.leavingOpen(site.folder)
      outcome.status = .unclosed
    }
  }

  /// - Parameter found: Rows that were completed at the close.
  private func standing(with found: [FrameRecord], changed: [String]) -> SessionStanding {
    let missing = writer.progress.frames.missing
    var causes = writer.damaged
    for row in found { causes[FrameID(track: row.track, sequence: row.sequence)] = row.cause }
    let damaged: [String: Int] = causes.values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    // Sorted, because the order of a Dictionary differs between runs.
    let losses = [missing, damaged].flatMap { counts in
      counts.keys.sorted().map { "\(counted(counts[$0, default: 0], "frame")): \($0)" }
    }
    return SessionStanding(
      damagedFrames: damaged.values.reduce(0, +), missingFrames: missing.values.reduce(0, +),
      losses: pipes.losses + losses
        + (changed.isEmpty
          ? [] : [RecordError.mediaChanged(files: changed).message]))
  }

  /// How long the end of a recording waits for a database that another process has locked.
  private static let databaseNanosecondsMax: Int64 = 60_000_000_000

  /// Ends: the other process releases the database, or the time limit is reached.
  private func waitForDatabase() {
    let deadline = machine.clock.monotonicNanoseconds + Self.databaseNanosecondsMax
    while writer.isWaiting, writer.failure == nil {
      guard machine.clock.monotonicNanoseconds < deadline else {
        return writer.giveUpDatabase(site.folder.database)
      }
      report(writer.progress)
      // A condition that no one signals: a recording that was stopped waits for its rows, too.
      machine.clock.wait(untilNanoseconds: nextTry, or: ThreadCondition())
      writer.finishMedia(at: pipes.sessionTime)
    }
  }

  /// Another process may have locked the database since the last commit.
  private func close(_ facts: StoreWriter.Facts, hashes: [FrameRecord]) throws {
    let deadline = machine.clock.monotonicNanoseconds + Self.databaseNanosecondsMax
    writer.prepareClose(facts, hashes: hashes)
    // Ends: the other process releases the database, or the time limit is reached.
    while true {
      do {
        return try writer.close()
      } catch let error as StoreError {
        guard case .busy(_, let holder) = error, machine.clock.monotonicNanoseconds < deadline
        else { throw error }
        var progress = writer.progress
        progress.databaseHolder = holder.map { "\($0)" } ?? "another program"
        report(progress)
        machine.clock.wait(untilNanoseconds: nextTry, or: ThreadCondition())
      }
    }
  }

  /// Time limit for computing hashes at the end, so that a recording is closed within two seconds.
  private static let hashNanosecondsMax: Int64 = 1_000_000_000

  private func missingHashes() -> [FrameRecord] {
    // A hash that is not found stays NULL, which docs/formats/session.md allows, so an error here
    // must not spoil the end of a good recording.
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

  /// Decodes the frames in doubt again, as an import does, because several decodings may return
  /// different pixels. Without doubts it does not decode.
  ///
  /// - Parameter found: Rows that were completed at the close.
  private func settled(_ found: [FrameRecord]) -> [FrameRecord] {
    var rows = Dictionary(
      found.map { (FrameID(track: $0.track, sequence: $0.sequence), $0) }
    ) { $1 }
    var doubts = writer.damaged
    for (id, row) in rows { doubts[id] = row.cause }
    guard !doubts.isEmpty, options.preset == .copy,
      let reader = try? SessionReader(opening: site.folder.path)
    else {
      return found
    }
    let start = machine.clock.monotonicNanoseconds
    for (track, ids) in Dictionary(grouping: doubts.keys, by: \.track).sorted(by: {
      $0.key < $1.key
    }) {
      let settling = DoubtfulFrames(reader, track: track)
      let settled = try? settling.settle(ids.map(\.sequence).sorted()) { [pipes, machine] in
        // A person who ends a recording does not wait longer than docs/recording.md says.
        pipes.reason != .stopped
          || machine.clock.monotonicNanoseconds - start < Self.hashNanosecondsMax
      }
      for row in settled ?? [] { rows[FrameID(track: row.track, sequence: row.sequence)] = row }
    }
    return rows.values.sorted { ($0.track, $0.sequence) < ($1.track, $1.sequence) }
  }
}
