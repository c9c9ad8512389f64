import Foundation
import RetakeProcess
import RetakeTestSupport
import Testing

/// Pipelines that run programs, through the command.
@Suite(
  .enabled(if: ChildProcess.path(of: "python3") != nil, SkipReason.noPython), .oneAtATime)
struct ProgramCommandTests {
  private let workplace: Workplace

  init() throws {
    workplace = try Workplace()
    try workplace.folder.write(StageProgram.conversation + Self.program, to: "means.py")
    try workplace.folder.write(Self.document, to: "means.json")
    try workplace.record("yard", frames: 12)
  }

  /// Means of gray frames. With the option `sticks` it never ends by itself, with `crashes` it does
  /// at frame 5, with `flaky` once. With others it depends on more than its frames: on the order of
  /// a set, a clock, random numbers, the number of threads, and on which of two threads is faster.
  private static let program = """
    import random, threading, time

    def race():
        # How long the turns were that two threads took: hardly ever the same twice. It ends, because
        # both go on until there were enough.
        sys.setswitchinterval(1e-6)
        turns, last = [], [None, 0]
        def run(name):
            while len(turns) < 4:
                if last[0] != name:
                    turns.append(last[1])
                    last[:] = [name, 0]
                last[1] += 1
        threads = [threading.Thread(target=run, args=(name,)) for name in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum((place + 1) * length for place, length in enumerate(turns))

    while True:
        message = receive()
        if "hello" in message:
            hello = message["hello"]
            send({"ready": {"v": 1, "name": "means", "version": 1, "output": "scalars",
                            "state": "pure", "formats": ["GRAY8"]}})
        elif "frame" in message:
            frame = message["frame"]
            if hello["options"].get("crashes") and frame["sequence"] == 5:
                print("no memory left", file=sys.stderr, flush=True)
                os.abort()
            if hello["options"].get("waits") and frame["sequence"] == 0:
                # Longer than its limit.
                signal.sigtimedwait([signal.SIGUSR1], 0.3)
            if hello["options"].get("escapes"):
                if os.fork() == 0:
                    os.setsid()
                    if os.fork() == 0:
                        code = "import os, signal; open('new', 'w').write(str(os.getpid())); " \\
                            "os.rename('new', 'stuck'); signal.pause()"
                        os.execve(sys.executable, ["p", "-c", code], {})
                    os._exit(0)
                signal.pause()
            if hello["options"].get("sticks"):
                if os.fork() == 0:
                    signal.pause()
                with open("stuck", "w") as file:
                    file.write(str(os.getpid()))
                signal.pause()
            offset, stride = frame["planes"][0]
            rows = (pixels[offset + y * stride:offset + y * stride + frame["width"]]
                    for y in range(frame["height"]))
            mean = sum(sum(row) for row in rows) / (frame["width"] * frame["height"])
            if hello["options"].get("unordered"):
                names = {str(number) for number in range(100)}
                mean = sum(place * int(name) for place, name in enumerate(names))
            if hello["options"].get("timed"):
                mean = time.perf_counter()
            if hello["options"].get("random"):
                mean = random.random()
            if hello["options"].get("threaded"):
                mean = float(os.environ["OMP_NUM_THREADS"])
            if hello["options"].get("racing"):
                mean = race()
            if hello["options"].get("flaky") and frame["sequence"] == 5:
                print("a bit flipped", file=sys.stderr, flush=True)
                if not os.path.exists("flipped"):
                    open("flipped", "w").close()
                    os.abort()
            send({"sequence": frame["sequence"],
                  "value": {"scalars": [{"name": "mean", "value": mean}]}})
        elif "bye" in message:
            sys.exit(0)
    """

  private static let document = """
    {"v": 1, "name": "means",
     "nodes": [
      {"id": "camera", "kind": "session"},
      {"id": "means", "kind": "process",
       "options": {"command": ["python3", "-S", "means.py"], "output": "scalars", "instances": 2},
       "cost": {"fixed": "5ms"}},
      {"id": "values", "kind": "results", "precision": {"scalar": 0.01}}],
     "edges": [
      {"from": "camera", "to": "means"},
      {"from": "means", "to": "values"}]}
    """

  @Test func `a document starts a program only where that is allowed`() throws {
    let refused = try workplace.retake("replay", "yard", "--pipeline", "means.json")
    #expect(refused.status == 2)
    #expect(refused.stderr.contains("the program 'python3' may not be started"))
    #expect(refused.stderr.contains("[process.notAllowed]"), "\(refused)")
    #expect(refused.stderr.contains("allow: {processes: [\"python3\"]} in retake.yml"))
    #expect(refused.stderr.contains("--allow-processes"))
    let flag = try workplace.retake(
      "replay", "yard", "--pipeline", "means.json", "--allow-processes", "--json")
    #expect(flag.status == 0, "\(flag.stderr)")
    try workplace.folder.write("v: 1\nallow: {processes: [python3]}\n", to: "retake.yml")
    let named = try workplace.retake("replay", "yard", "--pipeline", "means.json", "--json")
    #expect(named.status == 0, "\(named.stderr)")
    try workplace.folder.write("v: 1\nallow: {processes: [./python3]}\n", to: "retake.yml")
    #expect(try workplace.retake("pipeline", "check", "means.json").status == 2)
  }

  /// The flag forbids programs even if `allow` and all other options permit them.
  @Test func `no command starts a program where the command line forbids it`() throws {
    let count = "open('started', 'a').close()\n"
    try workplace.folder.write(count + StageProgram.conversation + Self.program, to: "means.py")
    try workplace.folder.write(
      "v: 1\nallow: {processes: [python3]}\ncases:\n  means: {pipeline: means.json}\n",
      to: "retake.yml")
    for words in [
      ["replay", "yard", "--pipeline", "means"],
      ["replay", "yard", "--program", "python3 means.py"],
      ["verify", "yard", "--pipeline", "means"], ["pipeline", "check", "means"],
      ["pipeline", "draw", "means"], ["view", "yard", "--pipeline", "means"],
      ["cache", "warm", "yard", "--pipeline", "means"],
      ["record", "synthetic:figures", "--name", "b", "--frames", "2", "--pipeline", "means.json"],
    ] {
      let refused = try workplace.retake(words: words + ["--no-processes"])
      #expect(refused.status == 2, "\(words): \(refused)")
      #expect(
        refused.stderr.contains("--no-processes forbids all programs"), "\(words): \(refused)")
      #expect(refused.stderr.contains("[process.forbidden]"), "\(words): \(refused)")
    }
    let test = try workplace.retake("test", "yard", "--no-processes")
    #expect(test.status == 2 && test.stdout.contains("--no-processes forbids"), "\(test)")
    #expect((test.stdout + test.stderr).contains("process.forbidden"), "\(test)")
    let both = try workplace.retake("test", "yard", "--no-processes", "--allow-processes")
    #expect(both.status == 64 && both.stderr.contains("exclude each other"), "\(both)")
    #expect(!FileManager.default.fileExists(atPath: workplace.folder.file("started").path))
    #expect(try workplace.retake("replay", "yard", "--pipeline", "means").status == 0)
    #expect(FileManager.default.fileExists(atPath: workplace.folder.file("started").path))
  }

  /// The package of the repository, for programs that import it.
  private static let package = ["PYTHONPATH": packageRoot.appending(path: "Python").path]

  /// A program that returns a value of another module for each frame.
  private static let watch = """
    import counter, retake

    class Watch(retake.Program):
        sinks = {"count": "scalars"}

        def on_frame(self, frame):
            self.out("count", {"n": counter.number(frame)})

    if __name__ == "__main__":
        retake.main(Watch)
    """

  @Test func `a module of a program that changed is the suspect`() throws {
    try workplace.folder.write(Self.watch, to: "watch.py")
    try workplace.folder.write("def number(frame): return frame.sequence\n", to: "counter.py")
    try workplace.folder.write(
      "v: 1\nallow: {processes: [python3]}\ncases:\n  watch: {program: python3 -B watch.py}\n",
      to: "retake.yml")
    func test() throws -> CommandResult {
      try workplace.retake("test", "yard", environment: Self.package)
    }
    #expect(try test().status == 3)
    #expect(try workplace.retake("accept", "--reason", "x").status == 0)
    let golden = try String(
      contentsOf: workplace.folder.file("Goldens/yard/watch/golden.yml"), encoding: .utf8)
    #expect(golden.contains("\nprograms: {counter.py: "), "\(golden)")
    #expect(golden.contains(", watch.py: "), "\(golden)")
    try workplace.folder.write("def number(frame): return 7\n", to: "counter.py")
    let changed = try test()
    #expect(changed.status == 1)
    #expect(
      changed.stdout.contains("the program's file counter.py changed: sha256 "),
      "\(changed.stdout)")
    #expect(!changed.stdout.contains("watch.py changed"), "\(changed.stdout)")
  }

  @Test func `a result of a program that changed since the test is not accepted`() throws {
    func write(counter: String) throws {
      try workplace.folder.write("def number(frame): return \(counter)\n", to: "counter.py")
    }
    func refuse(naming file: String) throws {
      let refused = try workplace.retake(
        "accept", "--reason", "good", environment: Self.package)
      #expect(refused.status == 2, "\(refused)")
      for text in [
        "is of other files than now: \(file) [suite.accept.outdated]\n", "Test again: ",
        "retake test yard/watch; for a result of other files on another machine, add --replace\n",
      ] {
        #expect(refused.stderr.contains(text), "\(text): \(refused.stderr)")
      }
    }
    try workplace.folder.write(Self.watch, to: "watch.py")
    try write(counter: "7")
    try workplace.folder.write(
      "v: 1\nallow: {processes: [python3]}\ncases:\n  watch: {program: python3 -B watch.py}\n",
      to: "retake.yml")
    #expect(try workplace.retake("test", "yard", environment: Self.package).status == 3)
    try write(counter: "frame.sequence")
    try refuse(naming: "counter.py")
    try workplace.folder.write(Self.watch + "\n# repaired\n", to: "watch.py")
    try refuse(naming: "counter.py, watch.py")
    // The program cannot be started, so only the files that the run has noted are compared; one
    // that is missing may be on another machine.
    try FileManager.default.removeItem(at: workplace.folder.file("counter.py"))
    try refuse(naming: "watch.py")
    #expect(
      !FileManager.default.fileExists(
        atPath: workplace.folder.file("Goldens/yard/watch/golden.yml").path))
    try write(counter: "7")
    try workplace.folder.write(Self.watch, to: "watch.py")
    #expect(try workplace.retake("accept", "--reason", "first").status == 0)
    #expect(try workplace.retake("test", "yard", environment: Self.package).status == 0)
  }

  /// The usual form of a robot's program: frames go into a queue, and a thread answers.
  private static let threaded = """
    import queue, threading, retake

    class P(retake.Program):
        sinks = {"n": "scalars"}
        formats = ["GRAY8"]

        def reset(self):
            self.q = queue.Queue(1)
            threading.Thread(target=self.work, name="worker", daemon=True).start()

        def work(self):
            while True:
                level = self.q.get()
                try:
                    self.out("n", {"first": level})
                except Exception:
                    pass

        def on_frame(self, frame):
            try:
                self.q.put_nowait(frame.planes[0].row(0)[0])
            except queue.Full:
                pass

    if __name__ == "__main__":
        retake.main(P)
    """

  @Test func `a thread whose answer belongs to no frame ends the run, in every command`() throws {
    try workplace.folder.write(Self.threaded, to: "thr.py")
    try workplace.folder.write(
      "v: 1\nallow: {processes: [python3]}\ncases:\n  thr: {program: python3 -B thr.py}\n",
      to: "retake.yml")
    for words in [
      ["replay", "yard", "--pipeline", "thr"], ["verify", "yard", "--pipeline", "thr"],
      ["test", "yard"],
    ] {
      let ended = try workplace.retake(words: words, environment: Self.package)
      #expect(ended.status == 2, "\(words): \(ended)")
      let said = ended.stdout + ended.stderr
      #expect(said.contains("'out' was called on the thread 'worker'"), "\(words): \(said)")
      #expect(said.contains("python.thread") && said.contains("in work"), "\(words): \(said)")
    }
  }

  @Test func `a program whose file changed is the suspect`() throws {
    try workplace.folder.write("v: 1\nallow: {processes: [python3]}\n", to: "retake.yml")
    func test() throws -> CommandResult {
      try workplace.retake("test", "yard", "--pipeline", "means.json")
    }
    #expect(try test().status == 3)
    #expect(try workplace.retake("accept", "--reason", "x").status == 0)
    let golden = try String(
      contentsOf: workplace.folder.file("Goldens/yard/means/golden.yml"), encoding: .utf8)
    // Of python3 there is no digest: it belongs to the machine.
    #expect(golden.contains("\nprograms: {means.py: "), "\(golden)")
    let same = try test()
    #expect(same.status == 0, "\(same)")
    try workplace.folder.write(
      (StageProgram.conversation + Self.program).replacing(
        "\"value\": mean", with: "\"value\": mean + 1"),
      to: "means.py")
    let changed = try test()
    #expect(changed.status == 1)
    #expect(changed.stdout.contains("(a program changed)"), "\(changed.stdout)")
    #expect(
      changed.stdout.contains("the program's file means.py changed: sha256 "), "\(changed.stdout)")
  }

  @Test func `a pure program is deterministic under all conditions`() throws {
    let result = try workplace.retake(
      "verify", "yard", "--pipeline", "means.json", "--allow-processes", "--mode", "simulate")
    #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
    #expect(result.stdout.contains("deterministic:"))
  }

  /// The source of the difference, and the condition and the advice that name it.
  @Test(arguments: [
    ("unordered", "another hash seed", "the order of a set, and for hash() of strings"),
    ("timed", "no workers", "clocks (use the frame's ptsNs"),
    ("random", "no workers", "random numbers without a seed"),
    ("threaded", "4 threads in programs", "differs only with OMP_NUM_THREADS=4"),
    ("racing", "workers", "threads whose order matters"),
  ])
  func `verify names a program that depends on more than its frames`(
    option: String, condition: String, advice: String
  ) throws {
    // Each run of a verification starts the instances of its program again.
    try write(option, instances: 1)
    let result = try workplace.retake(
      "verify", "yard", "--pipeline", "\(option).json", "--allow-processes")
    #expect(result.status == 1, "\(result.stdout)\(result.stderr)")
    let lines = result.stdout.split(separator: "\n")
    #expect(
      lines.contains { $0.hasPrefix("different") && $0.contains(condition) }, "\(result.stdout)")
    #expect(result.stdout.contains("next: look in the program of 'means' for"))
    #expect(result.stdout.contains(advice), "\(result.stdout)")
  }

  @Test func `a program that crashed once is a warning, in run.json and in the report too`() throws
  {
    try write("flaky")
    let warning =
      "frame 0:5, stage means: the program 'python3 -S means.py' was ended by signal 6 (SIGABRT), "
      + "and answered when it was started again; its last lines: a bit flipped [process.restarted]"
    let replay = try workplace.retake(
      "replay", "yard", "--pipeline", "flaky.json", "--allow-processes", "--output", "run")
    #expect(replay.status == 0 && replay.stderr.contains("warning: \(warning)"), "\(replay)")
    let file = try String(contentsOf: workplace.folder.file("run/run.json"), encoding: .utf8)
    #expect(file.contains(#""notices":[{"code":"process.restarted""#), "\(file)")
    let again = try workplace.retake(
      "replay", "yard", "--pipeline", "flaky.json", "--allow-processes", "--json",
      "--show-programs")
    #expect(again.status == 0 && !again.stdout.contains("notices"), "\(again)")
    // The program writes the line each time.
    #expect(again.stderr.contains("python3 -S means.py: a bit flipped"), "\(again.stderr)")
    try FileManager.default.removeItem(at: workplace.folder.file("flipped"))
    let test = try workplace.retake(
      "test", "yard", "--pipeline", "flaky.json", "--allow-processes")
    #expect(test.stdout.contains(warning), "\(test.stdout)")
  }

  @Test func `a pipeline that was recorded with a session starts no program`() throws {
    let made = try workplace.retake(
      "record", "synthetic:figures", "--name", "live", "--frames", "12", "--size", "160x120",
      "--pipeline", "means.json", "--allow-processes")
    #expect(made.status == 0, "\(made.stderr)")
    let refused = try workplace.retake(
      "replay", "live", "--mode", "reproduce", "--allow-processes")
    #expect(refused.status == 2)
    #expect(refused.stderr.contains("a pipeline in a session starts no programs"))
    let given = try workplace.retake(
      "replay", "live", "--mode", "reproduce", "--pipeline", "means.json", "--allow-processes")
    #expect(given.status == 0, "\(given.stdout)\(given.stderr)")
  }

  /// Counts frames, and sets a timer 10 ms after each; with the argument `crashes` it aborts at
  /// frame 3.
  private static let whole = """
    said = 0
    while True:
        message = receive()
        if "hello" in message:
            send({"ready": {"v": 1, "name": "counter", "version": 1, "output": "program",
                            "state": "stateful", "sinks": {"count": "scalars"}}})
        elif "reset" in message:
            said = 0
            send(message)
        elif "frame" in message or "timer" in message:
            if "frame" in message:
                last = message["frame"]["sequence"]
                send({"timer": {"id": 1, "atNs": message["frame"]["nowNs"] + 10_000_000}})
            said += 1
            value = {"scalars": [{"name": "said", "value": said}]}
            send({"out": {"sink": "count", "sequence": last, "value": value}})
            if last == 3 and sys.argv[1:] == ["crashes"] and "timer" in message:
                print("no memory left", file=sys.stderr, flush=True)
                os.abort()
            send({"done": message if "timer" in message else last})
        elif "bye" in message:
            sys.exit(0)
    """

  @Test func `a whole program is a pipeline, which the option allows`() throws {
    try workplace.folder.write(StageProgram.conversation + Self.whole, to: "count.py")
    let replay = try workplace.retake(
      "replay", "yard", "--program", "python3 count.py", "--follow", "--output", "run")
    #expect(replay.status == 0, "\(replay.stderr)")
    #expect(replay.stdout.contains(#"{"name":"said","value":23},{"name":"said#2","value":24}"#))
    let verified = try workplace.retake(
      "verify", "yard", "--program", "python3 count.py", "--mode", "simulate")
    #expect(verified.status == 0, "\(verified.stdout)\(verified.stderr)")
    let definition = "v: 1\ncases:\n  count: {program: python3 count.py}\n"
    try workplace.folder.write(definition, to: "retake.yml")
    let refused = try workplace.retake("test", "yard", "--pipeline", "count")
    #expect(refused.status == 2 && refused.stdout.contains("may not be started"), "\(refused)")
    try workplace.folder.write("\(definition)allow: {processes: [python3]}\n", to: "retake.yml")
    #expect(try workplace.retake("test", "yard/count").status == 3)
    let accepted = try workplace.retake("accept", "yard/count", "--reason", "first")
    #expect(accepted.status == 0, "\(accepted.stderr)")
    let passed = try workplace.retake("test", "yard/count")
    #expect(passed.status == 0, "\(passed.stdout)\(passed.stderr)")
  }

  @Test func `a whole program that crashes in a timer is an error at the next frame`() throws {
    try workplace.folder.write(StageProgram.conversation + Self.whole, to: "count.py")
    let crashed = try workplace.retake(
      "replay", "yard", "--program", "python3 count.py crashes")
    #expect(crashed.status == 2)
    #expect(
      crashed.stderr.contains(
        "frame 0:4, stage program: the program 'python3 count.py crashes' was ended by signal 6 "
          + "(SIGABRT), at timer 1 of 110000000 ns; its last lines: no memory left "
          + "[process.signalled]"), "\(crashed.stderr)")
  }

  @Test func `an error of a whole program names the program, and no place of a document`() throws {
    for command in ["replay", "verify"] {
      let missing = try workplace.retake(command, "yard", "--program", "python3 nosuch.py")
      #expect(missing.status == 2, "\(missing)")
      #expect(
        missing.stderr.hasPrefix("error: program 'python3 nosuch.py': "), "\(missing.stderr)")
    }
    try workplace.folder.write(
      "v: 1\ncases:\n  a: {program: {command: [python3, a.py], clock: moon}}\n",
      to: "retake.yml")
    let option = try workplace.retake("replay", "yard", "--pipeline", "a", "--allow-processes")
    #expect(option.status == 2, "\(option)")
    #expect(
      option.stderr.hasPrefix("error: program 'python3 a.py', 'clock': "), "\(option.stderr)")
  }

  @Test func `a whole program is not recorded with, and its options go with it`() throws {
    try workplace.folder.write(StageProgram.conversation + Self.whole, to: "count.py")
    try workplace.folder.write(
      Self.document.replacing("means", with: "count")
        .replacing(#""scalars", "instances": 2"#, with: #""program""#)
        .replacing(#""id": "count", "kind": "process""#, with: #""id": "p", "kind": "process""#)
        .replacing(#""id": "values""#, with: #""id": "count""#)
        .replacing(#""to": "count"},"#, with: #""to": "p"},"#)
        .replacing(#"{"from": "count", "to": "values"}"#, with: #"{"from": "p", "to": "count"}"#),
      to: "count.json")
    let replay = try workplace.retake(
      "replay", "yard", "--pipeline", "count.json", "--allow-processes")
    #expect(replay.status == 0, "\(replay.stderr)")
    let live = try workplace.retake(
      "record", "synthetic:figures", "--name", "live", "--frames", "12", "--size", "160x120",
      "--pipeline", "count.json", "--allow-processes")
    #expect(live.status == 2 && live.stderr.contains("it runs in a replay only"), "\(live.stderr)")
    for words in [
      ["--program-clock", "preload"], ["--program", "a", "--pipeline", "count.json"],
      ["--program", "'a"], ["--program", "a", "--program-transport", "pipe"],
    ] {
      let refused = try workplace.retake(words: ["replay", "yard"] + words)
      #expect(refused.status == 64, "\(words): \(refused.stderr)")
    }
  }

  private func write(_ option: String, instances: Int = 2) throws {
    let options = #""output": "scalars", "options": {"\#(option)": true},"#
    try workplace.folder.write(
      Self.document.replacing(#""output": "scalars","#, with: options)
        .replacing(#""instances": 2"#, with: #""instances": \#(instances)"#),
      to: "\(option).json")
  }

  @Test func `a crash is an error, with the stage, the frame and the last lines`() throws {
    try write("crashes")
    let crash =
      "frame 0:5, stage means: the program 'python3 -S means.py' was ended by signal 6 "
      + "(SIGABRT); its last lines: no memory left [process.signalled]"
    for workers in ["0", "4"] {
      let replay = try workplace.retake(
        "replay", "yard", "--pipeline", "crashes.json", "--allow-processes", "--workers", workers)
      #expect(replay.status == 2)
      #expect(replay.stderr.contains(crash), "\(replay.stderr)")
    }
    let test = try workplace.retake(
      "test", "yard", "--pipeline", "crashes.json", "--allow-processes")
    #expect(test.status == 2 && test.stdout.contains("process.signalled"), "\(test.stdout)")
    #expect(test.stdout.contains("Repair the program: a frame that it cannot do"), "\(test.stdout)")
  }

  @Test func `without a watchdog a program may take longer than its limit`() throws {
    let options = #""output": "scalars", "options": {"waits": true}, "timeoutSeconds": 0.1,"#
    try workplace.folder.write(
      Self.document.replacing(#""output": "scalars","#, with: options), to: "waits.json")
    let words = ["replay", "yard", "--pipeline", "waits.json", "--allow-processes"]
    let limited = try workplace.retake(words: words)
    #expect(limited.status == 2 && limited.stderr.contains("process.timeout"), "\(limited.stderr)")
    #expect(limited.stderr.contains("or raise timeoutSeconds"), "\(limited.stderr)")
    let lifted = try workplace.retake(words: words + ["--watchdog", "0"])
    #expect(lifted.status == 0, "\(lifted.stderr)")
  }

  /// `escapes` also starts a process that inherits only the limits of its parent.
  @Test(arguments: ["sticks", "escapes"])
  func `programs end with a Retake that is killed`(option: String) throws {
    try write(option)
    var request = ChildProcess.Request(
      Workplace.binary, ["replay", "yard", "--pipeline", "\(option).json", "--allow-processes"])
    request.folder = workplace.folder.url.path
    let process = try ChildProcess(request)
    let stuck = workplace.folder.file("stuck")
    var id: Int32?
    // Ends: the program writes its ID, or Retake ends without it.
    while id == nil, process.end == nil {
      id = (try? String(contentsOf: stuck, encoding: .utf8)).flatMap { Int32($0) }
    }
    process.send(SIGKILL)
    #expect(process.wait() == .signalled(SIGKILL))
    #expect(isGone(process: try #require(id)))
  }
}
