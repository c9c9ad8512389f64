import Foundation
import RetakeProcess
import RetakeSession
import RetakeStore
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeRecord

/// An app that reads its own session during the recording unlocks the database without noticing it,
/// so that other programs get access.
@Suite(.serialized, .oneAtATime) struct HeldDatabaseFaultTests {
  private static let python =
    (try? runCommand("python3", arguments: ["-c", "import sqlite3"]))?.status == 0
  private static let isLong = ProcessInfo.processInfo.environment["RETAKE_FAULTS"] == "long"

  /// The transaction of the other program once it has access.
  enum Rival: String, CaseIterable, Sendable {
    case locks = "BEGIN EXCLUSIVE"
    case reads = "BEGIN; SELECT count(*) FROM meta"
  }

  /// A program that tries to get access until it succeeds, and stays until its input ends.
  private final class Program: Sendable {
    let process: ChildProcess
    private let output: ChildPipe
    private let input: ChildPipe

    init(_ rival: Rival, database: String) throws {
      let script = """
        import sqlite3, sys, time
        end = time.monotonic() + 600
        base = None
        while time.monotonic() < end:
            try:
                base = sqlite3.connect("file:" + sys.argv[1] + "?mode=rw", uri=True, timeout=0,
                                       isolation_level=None)
                for word in sys.argv[2].split("; "):
                    base.execute(word).fetchall()
                break
            except sqlite3.OperationalError:
                base.close()
                time.sleep(0.001)
        print("in", flush=True)
        sys.stdin.read()
        base.execute("ROLLBACK")
        base.close()
        """
      (input, output) = (try ChildPipe(), try ChildPipe())
      var request = ChildProcess.Request(
        try executable("python3"), ["-c", script, database, rival.rawValue])
      request.input = .pipe(input)
      request.output = .pipe(output)
      process = try ChildProcess(request)
    }

    deinit { process.sendToGroup(SIGKILL) }

    /// Returns when the program has access; `false` if it ends without it.
    func waitUntilIn() -> Bool { output.readLine() == "in" }

    func leave() {
      input.closeWriteEnd()
      #expect(process.wait() == .exited(0))
    }
  }

  /// A recorder in this process.
  private final class App: Sendable {
    let reports = Reports()
    let result = Mutex<Result<RecordingResult, any Error>?>(nil)
    let recorder: Recorder
    private let reported = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    init(_ folder: TemporaryFolder, spoolRowsMax: Int = RecorderOptions.spoolRowsMax) throws {
      var options = RecorderOptions(
        name: "yard", into: folder.url.path, preset: .mpeg4, probe: .skip)
      options.reserveBytes = 0
      // Alongside other tests, a thread may have to wait long for its turn.
      options.waitingDurationMax = .seconds(ChildProcess.secondsMax)
      options.waitingFramesMax = 10_000
      var machine = Recorder.Machine()
      machine.spoolRowsMax = spoolRowsMax
      let (reports, reported) = (reports, reported)
      recorder = try Recorder(
        try Scene(6_000).source, options: options, machine: machine
      ) { line in
        reports.add(line)
        reported.signal()
      }
      Thread { [self] in
        let result = Result { try recorder.run() }
        self.result.withLock { $0 = result }
        ended.signal()
        reported.signal()
      }.start()
    }

    /// Waits for a report that meets a condition, the end of the recording, or the time limit.
    func wait(for isWanted: (RecordingProgress) -> Bool) -> Bool {
      // Ends: a recording reports three times a second and has an end, and each wait has a limit.
      while !reports.all.contains(where: isWanted) {
        let limit = DispatchTime.now() + .seconds(ChildProcess.secondsMax)
        guard reported.wait(timeout: limit) == .success, result.withLock({ $0 }) == nil else {
          return reports.all.contains(where: isWanted)
        }
      }
      return true
    }

    func waitForEnd() throws -> RecordingResult {
      try #require(
        ended.wait(timeout: .now() + .seconds(ChildProcess.secondsMax)) == .success)
      return try #require(result.withLock { $0 }).get()
    }
  }

  /// Reads the database as an app would that shows or sends it, until the other program has access.
  private func letIn(_ program: Program, _ database: String) throws {
    let isIn = Mutex<Bool?>(nil)
    Thread.detachNewThread {
      let answer = program.waitUntilIn()
      isIn.withLock { $0 = answer }
    }
    let limit = ContinuousClock.now + .seconds(ChildProcess.secondsMax)
    // Ends when the program has access or has ended: each read releases a lock that the program
    // waits for.
    while isIn.withLock({ $0 }) == nil, ContinuousClock.now < limit {
      _ = try FileHandle(forReadingFrom: URL(filePath: database)).read(upToCount: 16)
    }
    try #require(isIn.withLock { $0 } == true)
  }

  @Test(.enabled(if: python, "python3 has no sqlite3 here"), arguments: Rival.allCases)
  func `rows wait for a program that came in while it was recorded`(rival: Rival) throws {
    let folder = try TemporaryFolder()
    let app = try App(folder)
    let path = folder.file("yard").path
    #expect(app.wait { $0.frames.captured > 10 })
    let program = try Program(rival, database: path + "/session.sqlite")
    try letIn(program, path + "/session.sqlite")
    let name = "python3 (process \(program.process.id))"
    #expect(app.wait { $0.databaseHolder == name })
    let first = try #require(app.reports.all.first { $0.databaseHolder == name })
    let seconds = Self.isLong ? 30 : 1
    let logBytes = Mutex(0)
    let until = ContinuousClock.now + .seconds(seconds)
    #expect(
      app.wait { _ in
        let size = (try? FileManager.default.attributesOfItem(atPath: path + "/session.sqlite-wal"))
        let bytes = (size?[.size] as? NSNumber)?.intValue ?? 0
        logBytes.withLock { $0 = max($0, bytes) }
        return ContinuousClock.now >= until
      })
    #expect(app.reports.all.last?.frames == first.frames, "nothing is said to be durable meanwhile")
    program.leave()
    let waited = first.frames.captured
    #expect(app.wait { $0.databaseHolder == nil && $0.frames.captured > waited + 20 * seconds })
    app.recorder.stop()
    let result = try app.waitForEnd()
    #expect(result.status == .clean && result.isClosed && result.failure == nil)
    let frames = result.progress.frames
    #expect(frames.missing.isEmpty && frames.recorded == frames.captured)
    let reader = try SessionReader(opening: path, options: ReadOptions(verifiesPixels: true))
    #expect(reader.tracks[0].frameCount == frames.captured)
    for line in app.reports.all where line.frames.captured > 0 {
      #expect(try packetDigest(of: reader, through: line.lastSequence) == line.packetDigest)
    }
    let event = try #require(try reader.events().first { $0.kind == "database.held" })
    #expect(event.json.contains("\"program\":\"python3\""))
    #expect(try SessionCheck(path: path, decodes: true).run().findings.isEmpty)
    #expect(logBytes.withLock { $0 } <= 64 << 20)
    print(
      "faults | \(rival == .locks ? "14" : "15") | another comes in while it is recorded: "
        + "\(rival.rawValue) | 1 cases | in for \(seconds) s, named \(name); \(frames.captured) "
        + "produced = \(frames.recorded) accepted + 0 dropped; the log had "
        + "\(logBytes.withLock { $0 } >> 10) KiB at most")
  }

  @Test(.enabled(if: python, "python3 has no sqlite3 here"))
  func `a program that stays for too long ends the recording, and its media is kept`() throws {
    let folder = try TemporaryFolder()
    let app = try App(folder, spoolRowsMax: 100)
    let path = folder.file("yard").path
    #expect(app.wait { $0.frames.captured > 10 })
    let program = try Program(.locks, database: path + "/session.sqlite")
    try letIn(program, path + "/session.sqlite")
    let result = try app.waitForEnd()
    #expect(result.failure?.code == "record.database.held", "\(result.failure?.code ?? "")")
    #expect(result.failure?.message.contains("python3 (process ") == true)
    #expect(!result.isClosed && result.end == .failed)
    program.leave()
    let committed = result.progress.frames.captured
    let recovered = try SessionRecovery(path, fromMedia: true).run()
    // Most of the waiting rows belong to frames: at least one does.
    #expect(recovered.frames > committed && recovered.damagedFrames == 0, "\(recovered.frames)")
  }

  @Test func `a program that writes to the database is noticed`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("d.sqlite").path
    let writer = try StoreWriter(creating: path, durability: .recording)
    let first = try writer.commit()
    try writer.release()
    let goesOn = try StoreWriter(continuing: path, after: first)
    goesOn.setMeta("name", "yard")
    try goesOn.commit()
    // If the log grows after this writer's last commit, another program wrote to it.
    try Data(count: 4_120).append(to: path + "-wal")
    goesOn.setMeta("name", "other")
    #expect(code { try goesOn.commit() } == "store.write")
    #expect(code { try goesOn.commit() } == "store.closed")
  }
}
