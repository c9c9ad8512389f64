import Foundation
import Retake
import RetakeTestSupport
import Testing

extension FaultSuites {
  /// Other programs that use the same session or its database, and a machine with a wrong date.
  @Suite(.serialized) struct RivalFaultTests {
    @Test func `of many recorders that want one session one wins`() throws {
      let count = Faults.cases(short: 8, long: 50)
      let workplace = try Workplace()
      let script = """
        for n in $(seq \(count)); do
          "$0" record synthetic:figures --name same --into . --size 64x48 --frames 20 --probe skip \
            --json > /dev/null 2> "err-$n" && echo won &
        done
        wait
        """
      let result = try runCommand(
        "bash", arguments: ["-c", script, Workplace.binary], environment: ["CI": nil],
        folder: workplace.folder.url)
      #expect(result.stdout == "won\n")
      let refusals = try (1...count).map {
        try String(contentsOf: workplace.folder.file("err-\($0)"), encoding: .utf8)
      }
      let named = refusals.count {
        $0.contains("record.session.busy") || $0.contains("record.name.taken")
      }
      #expect(named == count - 1)
      let reader = try SessionReader(opening: workplace.folder.file("same").path)
      #expect(reader.tracks.first?.frameCount == 20)
      Faults.print(row: "16", "recorders at once", cases: count, "1 won, \(named) refused by name")
    }

    @Test(.enabled(if: Faults.python, "python3 has no sqlite3 here"))
    func `another program that wants the database for itself does not stop a recording`() throws {
      let seconds = Faults.isLong ? 30 : 2
      let workplace = try Workplace()
      let recording = try LiveRecording(name: "locked", into: workplace.folder.url)
      recording.waitForCommit()
      let script = """
        import os, sqlite3, sys, time
        base = sqlite3.connect(sys.argv[1], timeout=0.1, isolation_level=None)
        end, largest, answer = time.monotonic() + float(sys.argv[2]), 0, "refused"
        while time.monotonic() < end:
            for word in ("BEGIN EXCLUSIVE", "SELECT count(*) FROM frame"):
                try:
                    base.execute(word).fetchall()
                    answer = "let in"
                except sqlite3.OperationalError:
                    pass
            wal = sys.argv[1] + "-wal"
            largest = max(largest, os.path.getsize(wal) if os.path.exists(wal) else 0)
            time.sleep(0.05)
        print(answer, largest)
        """
      let other = try runCommand(
        "python3", arguments: ["-c", script, recording.path + "/session.sqlite", "\(seconds)"])
      let captured = try #require(recording.commits.last?.line).frames.captured
      #expect(recording.waitForCommit { $0.frames.captured > captured })
      recording.send(SIGINT)
      let last = try #require(recording.commits.last?.line)
      #expect(last.closed)
      // A machine that is too busy to encode sheds frames by itself.
      let missing = last.frames.missing.filter { $0.key != "record.shed.encoder" }
      #expect(missing.isEmpty, "\(missing)")
      let words = other.stdout.split(separator: " ")
      let logBytes = words.last.flatMap { Int($0.trimmingCharacters(in: .newlines)) } ?? .max
      #expect(other.stdout.hasPrefix("refused"))
      #expect(logBytes <= 64 << 20)
      Faults.print(
        row: "14, 15", "database wanted by another", cases: 1,
        "\(seconds) s, 0 of \(last.frames.captured) frames lost, the log had \(logBytes >> 10) KiB")
    }

    @Test(.enabled(if: Faults.faketime, "faketime is not there"))
    func `the machine's date changes nothing in a session`() throws {
      let workplace = try Workplace()
      let digests = try ["+0 hours", "+1 hour", "-1 hour"].enumerated().map { number, shift in
        let result = try workplace.retake(
          under: ["faketime", shift], workplace.recording("clock-\(number)", frames: 60))
        #expect(result.status == 0, "\(result.stderr)")
        let session = workplace.session("clock-\(number)", result)
        return try SessionReader(opening: session.path).sessionDigest()
      }
      #expect(Set(digests).count == 1)
      Faults.print(row: "12", "date an hour off", cases: 3, "one digest")
    }
  }
}
