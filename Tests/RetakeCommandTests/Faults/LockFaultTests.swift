import Foundation
import Retake
import RetakeTestSupport
import Testing

extension FaultSuites {
  /// Other programs that use the database of a session during its recording.
  @Suite(.serialized) struct LockFaultTests {
    /// Waits for the session, and locks its database exclusively for a number of seconds.
    private static let rival = """
      import os, sqlite3, sys, time
      path, seconds = sys.argv[1], float(sys.argv[2])
      end = time.monotonic() + 600
      while True:
          try:
              base = sqlite3.connect("file:" + path + "?mode=rw", uri=True, timeout=0,
                                     isolation_level=None)
              base.execute("BEGIN EXCLUSIVE")
              break
          except sqlite3.OperationalError as error:
              if time.monotonic() > end:
                  sys.exit(f"the database was not free: {error}")
              time.sleep(0.002)
      print("in", os.getpid(), flush=True)
      time.sleep(seconds)
      base.execute("ROLLBACK")
      base.close()
      """

    @Test(.enabled(if: Faults.python && Faults.strace, "python3 and strace are not both here"))
    func `rows wait for whoever was in the database first, and none is lost`() throws {
      let seconds = Faults.isLong ? 30 : 2
      let frames = 30 * (seconds + 4)
      let workplace = try Workplace()
      // The recorder's folder already has its name, and its database is not open again yet.
      let script = """
        python3 -c "$1" held/session.sqlite $(($2 + 4)) > rival &
        strace -f -qq -o /dev/null -e trace=rename -e inject=rename:delay_exit=3000000 \
          "$0" record synthetic:figures --name held --into . --size 64x48 --frames "$3" \
          --probe skip --json
        status=$?
        wait
        exit $status
        """
      let result = try runCommand(
        "bash", arguments: ["-c", script, Workplace.binary, Self.rival, "\(seconds)", "\(frames)"],
        environment: ["CI": nil], folder: workplace.folder.url)
      #expect(result.status == 0, "\(result.stderr)")
      let words = try String(contentsOf: workplace.folder.file("rival"), encoding: .utf8)
        .split(whereSeparator: \.isWhitespace)
      let process = try #require(words.last.flatMap { Int($0) }, "the rival was let in")
      #expect(result.stderr.contains("is held by python3 (process \(process))"), "\(result.stderr)")
      var session = workplace.session("held", result)
      try session.check()
      let last = try #require(session.last)
      // A camera does not wait for a busy machine, whose frames are shed: by the encoder, and not
      // by the database.
      let shed = last.frames.missing["record.shed.encoder"] ?? 0
      #expect(last.closed && last.frames.captured == frames)
      #expect(last.frames.missing.values.reduce(0, +) == shed, "\(last.frames.missing)")
      #expect(session.decoded == frames - shed)
      let waits = session.commits.count { $0.databaseHolder == "python3 (process \(process))" }
      #expect(waits > 1, "each line says for whom it waits")
      let event = try #require(
        try SessionReader(opening: session.path).events().first { $0.kind == "database.held" })
      let json = try JSON(Data(event.json.utf8))
      #expect(json.program.text == "python3" && json.process.int == process)
      let held = Int((json.nanoseconds.int ?? 0) / 1_000_000)
      #expect(held >= 1_000 * (seconds - 1))
      let findings = try SessionCheck(path: session.path, decodes: true).run().findings
      #expect(findings.isEmpty == (shed == 0))
      let topics = Set(findings.map(\.code))
      #expect(topics.isSubset(of: ["session.check.cause", "session.check.lossy"]), "\(topics)")
      Faults.print(
        row: "14", "database locked by another", cases: 1,
        "BEGIN EXCLUSIVE for \(seconds) s, rows waited \(held) ms for python3 (process \(process)); "
          + "\(frames) produced = \(session.decoded) accepted + \(session.missing) dropped")
    }

    /// With media after the last commit, a recovery replaces the database by a new one.
    @Test(.enabled(if: Faults.python, "python3 has no sqlite3 here"), arguments: [false, true])
    func `commands that find a database locked name the program`(hasTail: Bool) throws {
      let workplace = try Workplace()
      let recording = try LiveRecording(name: "named", into: workplace.folder.url, size: "64x48")
      recording.waitForCommit()
      let live = try workplace.retake(
        under: ["env"], ["session", "recover", recording.path])
      #expect(live.status == 2 && live.stderr.contains("[session.lock.held]"))
      #expect(live.stderr.contains(": retake (process "), "\(live.stderr)")
      #expect(live.stderr.contains("session snapshot \(recording.path) --into"), "\(live.stderr)")
      let early = workplace.folder.file("early")
      try recording.paused { try Self.copyDatabase(of: recording.path, to: early) }
      let before = recording.commits.last?.line.frames.captured ?? 0
      #expect(recording.waitForCommit { $0.frames.captured > before })
      recording.send(SIGKILL)
      if hasTail { try Self.restoreDatabase(of: recording.path, from: early) }
      let script = """
        coproc rival { python3 -c "$1" "$2/session.sqlite" 600; }
        read -r word process <&"${rival[0]}" || exit 90
        "$0" session recover "$2"
        status=$?
        kill "$process"
        exit $status
        """
      let result = try runCommand(
        "bash", arguments: ["-c", script, Workplace.binary, Self.rival, recording.path],
        environment: ["CI": nil], folder: workplace.folder.url)
      #expect(result.status == 2, "\(result.stderr)")
      #expect(result.stderr.contains("is held by python3 (process "), "\(result.stderr)")
      #expect(result.stderr.contains("[store.busy]"), "\(result.stderr)")
      let recovered = try SessionRecovery(recording.path).run()
      #expect(recovered.frames > 0 && (recovered.rebuiltFrames > 0 || !hasTail))
    }

    private static let databaseNames = ["session.sqlite", "session.sqlite-wal"]

    private static func copyDatabase(of session: String, to folder: URL) throws {
      let files = FileManager.default
      try files.createDirectory(at: folder, withIntermediateDirectories: false)
      for name in databaseNames where files.fileExists(atPath: "\(session)/\(name)") {
        try files.copyItem(atPath: "\(session)/\(name)", toPath: folder.appending(path: name).path)
      }
    }

    private static func restoreDatabase(of session: String, from folder: URL) throws {
      let files = FileManager.default
      for name in databaseNames + ["session.sqlite-shm"] {
        try? files.removeItem(atPath: "\(session)/\(name)")
      }
      for name in try files.contentsOfDirectory(atPath: folder.path) {
        try files.moveItem(atPath: folder.appending(path: name).path, toPath: "\(session)/\(name)")
      }
    }

    @Test(.enabled(if: Faults.python, "python3 has no sqlite3 here"))
    func `a reader that wants to stay in the database does not make its log grow`() throws {
      let seconds =
        ProcessInfo.processInfo.environment["RETAKE_READER_SECONDS"].flatMap { Int($0) }
        ?? (Faults.isLong ? 600 : 3)
      let workplace = try Workplace()
      // As many rows as possible, so that the log restarts several times.
      let recording = try LiveRecording(
        ["lavfi:testsrc2=size=64x48:rate=30", "--speed", "max"],
        name: "read", into: workplace.folder.url)
      recording.waitForCommit()
      let script = """
        import os, sqlite3, sys, time
        path = sys.argv[1]
        base = sqlite3.connect(path, timeout=0, isolation_level=None)
        end, largest, answer = time.monotonic() + float(sys.argv[2]), 0, "refused"
        while time.monotonic() < end:
            try:
                base.execute("BEGIN").fetchall()
                base.execute("SELECT count(*) FROM frame").fetchall()
                answer = "let in"
            except sqlite3.OperationalError:
                if base.in_transaction:
                    base.execute("ROLLBACK")
            largest = max(largest, os.path.getsize(path + "-wal"))
            time.sleep(0.02)
        print(answer, largest)
        """
      let other = try runCommand(
        "python3", arguments: ["-c", script, recording.path + "/session.sqlite", "\(seconds)"],
        timeoutSeconds: seconds + 600)
      recording.send(SIGINT)
      let last = try #require(recording.commits.last?.line)
      let words = other.stdout.split(whereSeparator: \.isWhitespace)
      let bytes = words.last.flatMap { Int($0) } ?? .max
      #expect(other.stdout.hasPrefix("refused"), "\(other.stdout)")
      #expect(bytes <= 64 << 20)
      #expect(last.closed && last.frames.missing.isEmpty)
      Faults.print(
        row: "15", "checkpoint starved by a reader", cases: 1,
        "\(seconds) s, \(last.commit) commits with \(last.frames.captured) frames, the log had "
          + "\(bytes >> 10) KiB at most, the reader was refused; \(last.frames.captured) produced = "
          + "\(last.frames.recorded) accepted + 0 dropped")
    }
  }
}
