import Foundation
import RetakeProcess
import RetakeTestSupport
import Testing

extension FaultSuites {
  /// Programs of pipelines that break the protocol or a limit, under a real `retake replay`.
  @Suite(.serialized, .enabled(if: ChildProcess.path(of: "python3") != nil, SkipReason.noPython))
  struct ProgramStageFaultTests {
    /// The program's action instead of answering frame 3, and the error code of the replay.
    struct Kind: Sendable {
      var name: String
      var code: String
      var body: String
      /// Whether the fault is noticed only at the program's next frame. The test then starts a
      /// single copy: of two copies, the faulty copy might receive no other frame.
      var isLater = false
      /// Whether the program does not answer at all.
      var hangs: Bool { code == "process.timeout" }
    }

    static let kinds = [
      Kind(
        name: "sleeper", code: "process.timeout",
        body: "signal.signal(signal.SIGTERM, signal.SIG_IGN); pause()"),
      Kind(name: "double fork", code: "process.timeout", body: "leave(); pause()"),
      Kind(name: "abort", code: "process.signalled", body: "os.abort()"),
      Kind(
        name: "segmentation fault", code: "process.signalled",
        body: "os.kill(os.getpid(), signal.SIGSEGV)"),
      Kind(
        name: "garbage", code: "process.tooLong",
        body: "flood(lambda data: channel.sendall(b'\\xa5' * len(data)), 16)"),
      // Less in the short form.
      Kind(
        name: "1 GB", code: "process.tooLong",
        body: "channel.sendall(struct.pack('<I', 1 << 30)); flood(channel.sendall)"),
      Kind(
        name: "1 GB on standard output", code: "process.exited",
        body: "flood(lambda data: os.write(1, data)); say(); sys.exit(5)"),
      Kind(
        name: "no end", code: "process.timeout",
        body: "channel.sendall(struct.pack('<I', 100) + b'{'); pause()"),
      Kind(name: "wrong sequence", code: "process.wrongFrame", body: "answer(1_000)"),
      Kind(
        name: "twice", code: "process.repeated", body: "answer(number); answer(number)",
        isLater: true),
      Kind(
        name: "NaN", code: "process.garbage", body: "answer(number, float('nan')); pause()"),
      Kind(name: "closed socket", code: "process.closed", body: "channel.close(); pause()"),
      Kind(name: "exit 0", code: "process.exited", body: "os._exit(0)"),
      Kind(
        name: "reads and does not answer", code: "process.timeout",
        body: "list(iter(receive, None))"),
    ]

    private static func program(_ kind: Kind?) -> String {
      StageProgram.conversation + """
        import time

        def note(identifier):
            with open("processes", "a") as file:
                file.write(f"{identifier}\\n")

        def say():
            print("these are the last words", file=sys.stderr, flush=True)

        def pause():
            while True:
                signal.pause()

        def leave():
            # A process without a parent, in a session of its own.
            if os.fork() == 0:
                os.setsid()
                if os.fork() > 0:
                    os._exit(0)
                note(os.getpid())
                pause()
            os.wait()

        def flood(write, count=\(Faults.isLong ? 1 << 14 : 1 << 8)):
            try:
                for _ in range(count):
                    write(b"x" * (1 << 16))
            except OSError:
                pause()

        def answer(number, value=1):
            send({"sequence": number, "value": {"scalars": [{"name": "v", "value": value}]}})

        note(os.getpid())
        hello = receive()["hello"]
        send({"ready": {"v": 1, "name": "faulty", "version": 1, "output": "scalars",
                        "state": "pure", "formats": ["GRAY8"]}})
        while True:
            message = receive()
            if "bye" in message:
                sys.exit(0)
            number = message["frame"]["sequence"]
            if number == 3 and \(kind == nil ? "False" : "True"):
                say()
                \(kind?.body ?? "pass")
                continue
            answer(number)
        """
    }

    private static func document(_ kind: Kind?) -> String {
      """
      {"v": 1, "name": "faulty",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "faulty", "kind": "process",
         "options": {"command": ["python3", "-S", "faulty.py"], "output": "scalars",
                     "instances": \(kind?.isLater == true ? 1 : 2),
                     "timeoutSeconds": \(kind?.hangs == true ? limitSeconds : 60)}},
        {"id": "values", "kind": "results"}],
       "edges": [
        {"from": "camera", "to": "faulty"},
        {"from": "faulty", "to": "values"}]}
      """
    }

    /// How a replay ended, in real time, and the most memory that it took.
    private struct Run: Decodable, Sendable {
      var status: Int32
      var seconds: Double
      var kibibytesMax: Int
      var stderr: String
    }

    /// Runs its arguments, and prints the members of `Run`.
    private static let meter = """
      import json, resource, subprocess, sys, time
      start = time.monotonic()
      done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
      print(json.dumps({
          "status": done.returncode, "seconds": time.monotonic() - start,
          "kibibytesMax": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,
          "stderr": done.stderr.decode()}))
      """

    private static func replay(_ kind: Kind?, in workplace: Workplace) throws -> Run {
      try workplace.folder.write(program(kind), to: "faulty.py")
      try workplace.folder.write(document(kind), to: "faulty.json")
      try? FileManager.default.removeItem(at: workplace.folder.file("processes"))
      let result = try runCommand(
        "python3",
        arguments: [
          "-c", meter, Workplace.binary, "replay", "yard", "--pipeline", "faulty.json",
          "--allow-processes",
        ], folder: workplace.folder.url)
      try #require(result.status == 0, "\(result.stderr)")
      return try JSONDecoder().decode(Run.self, from: result.stdoutBytes)
    }

    /// The programs and their children that still run.
    private static func orphans(in workplace: Workplace) throws -> [Int32] {
      let text = try String(contentsOf: workplace.folder.file("processes"), encoding: .utf8)
      let ids = text.split(separator: "\n").compactMap { Int32($0) }
      try #require(!ids.isEmpty)
      // A copy that was idle ends by itself when its socket is closed.
      return ids.filter { !isGone(process: $0) }
    }

    /// In addition to the limit of a frame and the duration of a replay without a fault.
    private static let secondsMax = 2.0
    private static let kibibytesMax = 64 << 10
    private static let limitSeconds = 1.0

    @Test func `each fault is found at its frame, and leaves no process`() throws {
      let cases = Faults.cases(short: 1, long: 20)
      let workplace = try Workplace()
      try workplace.record("yard", frames: 12)
      let usual = try Self.replay(nil, in: workplace)
      try #require(usual.status == 0, "\(usual.stderr)")
      for kind in Self.kinds {
        let runs = try (0..<cases).map { _ in
          let run = try Self.replay(kind, in: workplace)
          check(run, kind)
          #expect(try Self.orphans(in: workplace) == [], "\(kind.name)")
          return run
        }
        let later = runs.map { $0.seconds - usual.seconds }.max() ?? 0
        let more = (runs.map(\.kibibytesMax).max() ?? 0) - usual.kibibytesMax
        // Together with other tests, times and memory depend on their load.
        if Faults.isLong {
          #expect(later <= Self.secondsMax + (kind.hangs ? Self.limitSeconds : 0), "\(kind.name)")
          #expect(more <= Self.kibibytesMax, "\(kind.name)")
        }
        Faults.print(
          row: "25-28", kind.name, cases: cases,
          "at most \(String(format: "%.2f", later)) s and \(more >> 10) MiB more than without")
      }
    }

    private func check(_ run: Run, _ kind: Kind) {
      #expect(run.status == 2, "\(kind.name): \(run.stderr)")
      #expect(run.stderr.contains("[\(kind.code)]"), "\(kind.name): \(run.stderr)")
      let place = kind.isLater ? #/frame 0:\d+, stage faulty:/# : #/frame 0:3, stage faulty:/#
      #expect(run.stderr.contains(place), "\(kind.name): \(run.stderr)")
      #expect(run.stderr.contains("these are the last words"), "\(kind.name): \(run.stderr)")
    }
  }
}
