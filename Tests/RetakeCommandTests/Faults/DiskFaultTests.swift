import Foundation
import Retake
import RetakeTestSupport
import Testing

/// The suites that cause faults under a real recorder, mostly several at once.
@Suite(.oneAtATime) enum FaultSuites {}

extension FaultSuites {
  /// Disks that are full, limited, broken or slow, simulated with the system's own tools.
  @Suite(.serialized) struct DiskFaultTests {
    // MARK: Full

    /// One recording until its disk is full.
    private struct Fill: Sendable {
      var result: CommandResult
      var session: FaultSession
      var problems: [String]
      /// From the last commit during the recording to the end of the program.
      var seconds = 0.0
    }

    @Test(.enabled(if: Faults.mounts, "unshare may not mount a tmpfs here"))
    func `a recording on a full disk ends with what fits, and says why`() throws {
      let cases = Faults.cases(short: 6, long: 100)
      let fills = try Faults.inParallel(cases, width: 2) { number in
        let megabytes = Faults.isLong ? 2 + number * 62 / cases : 3 + number
        return try Self.fill(
          megabytes: megabytes, reserve: number % 2 == 0 ? "1MiB" : "0MB",
          otherAfter: number % 3 == 2 ? 2 : 0)
      }
      for (number, fill) in fills.enumerated() {
        report(fill.problems, "disk \(number)")
        #expect(fill.result.status == 2, "\(fill.result.stderr)")
        let codes = ["record.disk.reserve", "record.disk.write", "store.diskFull"]
        #expect(codes.contains { fill.result.stderr.contains("[\($0)]") }, "\(fill.result.stderr)")
        let stopsEarly = number % 2 == 0 && number % 3 != 2
        #expect(!stopsEarly || fill.result.stderr.contains("[record.disk.reserve]"))
        #expect(!stopsEarly || fill.session.last?.closed == true)
        #expect(fill.session.frames > 0 && fill.session.acknowledged > 0)
      }
      let slowest = fills.map(\.seconds).max() ?? 0
      #expect(
        Int64(slowest * 1_000) <= Faults.limit(milliseconds: 1_000),
        "\(slowest) s from the last commit to the end")
      let (frames, closed) = (
        fills.reduce(0) { $0 + $1.session.frames },
        fills.count { $0.session.last?.closed == true }
      )
      let reserved = fills.count { $0.result.stderr.contains("[record.disk.reserve]") }
      Faults.print(
        row: "5", "disk full", cases: cases,
        "\(fills.count { !$0.problems.isEmpty }) with loss, \(frames) frames kept, \(closed) closed, "
          + "\(reserved) at the reserve, ended \(Int(slowest * 1_000)) ms after the last commit at most"
      )
    }

    /// Records until the disk is full, and copies the rest out of the mount.
    ///
    /// - Parameter otherAfter: The number of commits after which another program fills the free
    ///   space; 0 for never.
    private static func fill(megabytes: Int, reserve: String, otherAfter: Int) throws -> Fill {
      let script = """
        disk=$(mktemp -d) && mount -t tmpfs -o size=$1M tmpfs "$disk" || exit 99
        "$0" record "$4" --name full --into "$disk" --frames 100000 --speed max --preset ffv1 \
          --min-free "$2" --json | while read -r line; do
            echo "$EPOCHREALTIME $line"
            lines=$((lines + 1))
            [ "$lines" != "$3" ] || dd if=/dev/zero of="$disk/other" bs=4k 2>/dev/null
          done
        status=${PIPESTATUS[0]}
        echo "$EPOCHREALTIME end"
        rm -f "$disk/other"
        [ ! -e "$disk/full" ] || cp -a "$disk/full" . || exit 98
        umount "$disk" && rmdir "$disk" && exit "$status"
        """
      let workplace = try Workplace()
      let result = try runCommand(
        "unshare",
        arguments: [
          "-m", "bash", "-c", script, Workplace.binary, "\(megabytes)", reserve, "\(otherAfter)",
          Workplace.noise("320x240"),
        ], environment: ["CI": nil, "LC_ALL": "C"], folder: workplace.folder.url)
      let lines = result.stdout.split(separator: "\n").map {
        $0.split(separator: " ", maxSplits: 1).map(String.init)
      }
      let text = lines.compactMap { $0.count == 2 ? $0[1] : nil }.joined(separator: "\n")
      var fill = Fill(
        result: result,
        session: FaultSession(workplace.folder.file("full").path, acknowledged: text), problems: [])
      fill.problems = try fill.session.examine()
      if let end = lines.last?.first.flatMap(Double.init),
        let last = lines.last(where: { $0.count == 2 && $0[1].contains("\"closed\":false") }),
        let time = Double(last[0])
      {
        fill.seconds = end - time
      }
      return fill
    }

    @Test(.enabled(if: Faults.mounts, "unshare may not mount a tmpfs here"))
    func `init on a full disk leaves no file, and works once there is space`() throws {
      let script = """
        disk=$(mktemp -d) && mount -t tmpfs -o size=4k tmpfs "$disk" || exit 99
        cd "$disk" && dd if=/dev/zero of=fill bs=4k count=1 2>/dev/null
        "$0" init; echo "first $?"
        rm fill && find . -type f && mount -o remount,size=1m "$disk" && "$0" init; echo "then $?"
        cd / && umount "$disk" && rmdir "$disk"
        """
      let result = try runCommand(
        "unshare", arguments: ["-m", "bash", "-c", script, Workplace.binary],
        environment: ["CI": nil, "LC_ALL": "C"])
      let lines = result.stdout.split(separator: "\n")
      #expect(lines.first == "first 2" && lines.dropFirst().first?.hasPrefix("wrote") == true)
      #expect(lines.last == "then 0", "\(result.stdout)\(result.stderr)")
      #expect(result.stderr.contains("Free space on the disk"), "\(result.stderr)")
    }

    // MARK: Limited

    @Test(.enabled(if: Faults.limits, "prlimit does not work here"))
    func `where no file may be larger a recording goes on in another segment`() throws {
      let cases = Faults.cases(short: 2, long: 20)
      let sessions = try Faults.inParallel(cases, width: 2) { number in
        let workplace = try Workplace()
        let result = try workplace.retake(
          under: ["prlimit", "--fsize=\(6_000_000 + 500_000 * number)"],
          [
            "record", Workplace.noise("320x240"), "--name", "limited", "--into",
            workplace.folder.url.path, "--frames", "180", "--speed", "max", "--preset", "ffv1",
            "--json",
          ])
        var session = workplace.session("limited", result)
        let problems = try session.examine()
        let events = try SessionReader(opening: session.path).events()
        let abandoned = events.count { $0.kind == "segment.abandoned" }
        return (result: result, session: session, problems: problems, abandoned: abandoned)
      }
      for found in sessions {
        report(found.problems, "size limit")
        #expect(found.result.signal == nil && found.result.status == 0, "\(found.result.stderr)")
        #expect(found.session.frames == 180 && found.session.decoded > 90)
        #expect((found.session.last?.segments ?? 0) > 1, "it went on in other segments")
        #expect(found.abandoned <= 1, "it knows the limit then")
      }
      Faults.print(
        row: "6", "file size limit", cases: cases,
        "0 signal deaths, \(sessions.map { $0.session.last?.segments ?? 0 }) segments, "
          + "\(sessions.map(\.session.missing)) of 180 frames without pixels, each with its cause")
    }

    @Test(.enabled(if: Faults.limits, "prlimit does not work here"), arguments: [30_000, 90_000])
    func `where not even the database may grow a recording ends with an error`(bytes: Int) throws {
      let workplace = try Workplace()
      let result = try workplace.retake(
        under: ["prlimit", "--fsize=\(bytes)"], workplace.live("limited", frames: 60))
      #expect(result.signal == nil && result.status == 2)
      #expect(result.stderr.contains("error: "), "\(result.stderr)")
      var session = workplace.session("limited", result)
      try session.check()
    }

    // MARK: Broken

    private static let frames = 90
    private static let whole = Result { try WatchedRecording(frames: frames) }

    @Test(
      .enabled(if: Faults.strace, "strace may not trace here"),
      arguments: ["pwrite64", "fdatasync"])
    func `a failing disk costs one batch, and nothing of it is claimed`(call: String) throws {
      let cases = Faults.cases(short: 4, long: 40)
      let whole = try Self.whole.get()
      // strace counts per thread: the first thread creates the session, another one writes.
      let calls = whole.calls.filter { $0.name == call }
      let threads = Dictionary(grouping: calls, by: \.thread).mapValues(\.count)
      let first = threads[whole.calls.first?.thread ?? 0] ?? 0
      let most = try #require(threads.values.max())
      try #require(most > first, "the writer does most of it")
      let runs = try Faults.inParallel(cases) { number in
        let place = first + 1 + number * (most - first) / cases
        let run = try Self.failing(call, at: place, first: first + 1)
        let end = run.moments.count - 1
        let problems =
          try run.problems(at: end, .none) + run.problems(at: end, .all) + run.callsAfterFailure
        return (run, problems)
      }
      var missing: [Int] = []
      for (run, problems) in runs {
        report(problems, "EIO in \(call)")
        let result = run.result
        #expect(result.signal == nil && !result.timedOut)
        #expect(run.calls.contains { $0.result < 0 && $0.name == call }, "the fault was planted")
        let last = try #require(run.moments.last?.commits.last)
        if result.status == 0 {
          let lost = last.frames.missing.values.reduce(0, +)
          #expect(last.closed && last.frames.captured == Self.frames)
          // A busy machine commits later, and then a batch has more frames.
          let captured = [0] + (run.moments.last?.commits ?? []).map(\.frames.captured)
          let batch = zip(captured.dropFirst(), captured).map { $0 - $1 }.max() ?? 0
          #expect(
            lost <= max(30, 2 * batch), "one batch, and what needs it: \(last.frames.missing)")
          missing.append(lost)
        } else {
          #expect(result.stderr.contains("error: "), "\(result.stderr)")
        }
      }
      Faults.print(
        row: call == "pwrite64" ? "7" : "8", "EIO in \(call)", cases: cases,
        "\(runs.count { !$0.1.isEmpty }) with loss or a false claim; of the media: \(missing) of \(Self.frames) "
          + "frames without pixels; of the database: \(cases - missing.count) ended with an error")
    }

    /// A recording one of whose calls fails: that one, or an earlier one where a busy machine makes
    /// fewer of them.
    private static func failing(
      _ call: String, at place: Int, first: Int
    ) throws -> WatchedRecording {
      var place = place
      // Ends: each round is nearer to the first call, which each recording makes.
      while true {
        let run = try WatchedRecording(
          frames: frames, injection: ["-e", "inject=\(call):error=EIO:when=\(place)"])
        if place <= first || run.calls.contains(where: { $0.result < 0 && $0.name == call }) {
          return run
        }
        place = first + (place - first) / 2
      }
    }

    // MARK: Slow

    @Test(.enabled(if: Faults.strace && Faults.python, "strace and python3 are not both here"))
    func `a disk that stands still costs frames, each with its cause, and no memory`() throws {
      let stalls = Faults.isLong ? 8 : 1
      let (stallSeconds, fps) = (6, 60)
      let frames = fps * (1 + (stallSeconds + 1) * stalls)
      let workplace = try Workplace()
      // The size of the largest program, which is the recorder.
      let script = """
        import resource, subprocess, sys
        status = subprocess.call(sys.argv[1:])
        print("KiB", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
        sys.exit(status)
        """
      let media = workplace.folder.url.path + "/slow/media/video-00000.mkv"
      let result = try workplace.retake(
        under: [
          "python3", "-c", script, "strace", "-f", "-qq", "-o", "/dev/null", "-P", media, "-e",
          "trace=fdatasync", "-e",
          "inject=fdatasync:delay_enter=\(stallSeconds)s:when=2..\(4 * stalls)+4",
        ],
        [
          "record", Workplace.noise("640x480", fps: fps), "--name", "slow", "--into",
          workplace.folder.url.path, "--frames", "\(frames)", "--preset", "mjpeg", "--probe",
          "skip", "--json",
        ])
      #expect(result.status == 0, "\(result.stderr)")
      var session = workplace.session("slow", result)
      try session.check()
      #expect(session.frames == frames)
      #expect(session.decoded + session.missing == frames)
      let causes = session.last?.frames.missing ?? [:]
      #expect(session.missing > 0)
      #expect(Set(causes.keys).isSubset(of: ["record.shed.disk", "record.shed.encoder"]))
      let words = result.stderr.split(whereSeparator: \.isWhitespace)
      let kibibytes = try #require(
        words.firstIndex(of: "KiB").flatMap { Int(words[$0 + 1]) }, "\(result.stderr)")
      #expect(kibibytes < 400 << 10, "64 MiB of packets, 32 pictures, and the program")
      Faults.print(
        row: "9", "disk stands still", cases: stalls,
        "\(frames) produced = \(session.decoded) accepted + \(session.missing) dropped "
          + "\(causes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }), "
          + "\(kibibytes >> 10) MiB at most")
    }
  }
}
