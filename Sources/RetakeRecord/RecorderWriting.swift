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
  }

  private let site: RecordingSite
  private let options: RecorderOptions
  private let machine: Recorder.Machine
  private let pipes: RecorderPipes
  private let report: @Sendable (RecordingProgress) -> Void
  private let writer: SessionWriter
  private var schedule: CommitSchedule
  private var watch: ClockWatch
  private(set) var outcome = Outcome()

  init(
    site: RecordingSite, options: RecorderOptions, machine: Recorder.Machine,
    pipes: RecorderPipes, report: @escaping @Sendable (RecordingProgress) -> Void
  ) {
    self.site = site
    self.options = options
    self.machine = machine
    self.pipes = pipes
    self.report = report
    writer = SessionWriter(
      site: .init(
        folder: site.folder, makeSink: machine.makeSink, requestKey: { pipes.requestKey() }),
      store: site.store,
      limits: .init(
        bytesMax: options.segmentBytesMax,
        nanosecondsMax: options.segmentDurationMax.nanoseconds))
    schedule = CommitSchedule(
      intervalNanoseconds: options.commitInterval.nanoseconds,
      rowsMax: RecorderOptions.commitRowsMax)
    watch = ClockWatch(machine.clock.anchor())
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
    guard let deadline = schedule.deadlineNanoseconds else {
      return pipes.encoded.arrived.wait()
    }
    machine.clock.wait(untilNanoseconds: deadline, or: pipes.encoded.arrived)
  }

  private func take(_ row: RecordedRow) {
    writer.add(row)
    if case .frame(_, let encoded?) = row { pipes.encoded.finish(encoded.packet.size) }
    schedule.rowAdded(nowNanoseconds: machine.clock.monotonicNanoseconds)
    commitIfDue()
  }

  private func commitIfDue() {
    guard schedule.isDue(nowNanoseconds: machine.clock.monotonicNanoseconds) else { return }
    commit()
  }

  private func commit() {
    watchClock()
    let isCommitted = writer.commit(at: pipes.sessionTime)
    schedule.committed()
    outcome.progress = writer.progress
    if isCommitted { report(writer.progress) }
    checkReserve()
    if let failure = writer.failure { stop(failure) }
  }

  private func stop(_ failure: RecordError) {
    outcome.failure = outcome.failure ?? failure
    pipes.end(.failed, failure: failure)
  }

  private func checkReserve() {
    guard let free = machine.freeBytes(site.folder.path), free < options.reserveBytes else {
      return
    }
    pipes.end(
      .failed,
      failure: .diskReserve(
        path: site.folder.path, freeBytes: free, reserveBytes: options.reserveBytes))
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
    writer.finishMedia(at: pipes.sessionTime)
    outcome.progress = writer.progress
    outcome.failure = outcome.failure ?? writer.failure
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
      try writer.close(facts, hashes: missingHashes())
      outcome.isClosed = true
      outcome.progress = writer.progress
      report(writer.progress)
    } catch {
      outcome.failure = outcome.failure ?? RecordError(passing: error)
      outcome.status = .recovered
    }
  }

  /// Time for hashes at the end: a recording is closed within two seconds.
  private static let hashNanosecondsMax: Int64 = 1_000_000_000

  private func missingHashes() -> [FrameRecord] {
    guard writer.missingHashes > 0, let reader = try? SessionReader(opening: site.folder.path)
    else { return [] }
    let deadline = machine.clock.monotonicNanoseconds + Self.hashNanosecondsMax
    let found = try? MissingPixels(reader).find(track: 0) {
      machine.clock.monotonicNanoseconds < deadline
    }
    return found ?? []
  }
}
