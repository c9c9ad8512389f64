import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeStages
import RetakeTestSupport
import Testing

@testable import RetakeForeign

/// Programs that break the protocol or a limit. Each fault is attributed to its frame, and leaves
/// no process.
@Suite(.enabled(if: PythonProgram.isHere, SkipReason.noPython)) struct ProgramFaultTests {
  /// The program's action at frame 3, and the code and the text of the run's error.
  struct Fault: Sendable, CustomTestStringConvertible {
    var body: String
    var code: String
    var text: String
    var timeoutSeconds = 60.0

    init(_ body: String, _ code: String, _ text: String, timeoutSeconds: Double = 60) {
      (self.body, self.code, self.text) = (body, code, text)
      self.timeoutSeconds = timeoutSeconds
    }

    /// A second answer is found at the next frame of the copy, whichever worker sends it a frame.
    /// There must be such a frame, so the program repeats the fault.
    var isRepeated: Bool { code == "process.repeated" }

    func isAt(_ sequence: Int) -> Bool { isRepeated || sequence == 3 }

    var testDescription: String { "\(code): \(body)" }
  }

  static let faults = [
    Fault("sys.exit(3)", "process.exited", "exited with status 3"),
    Fault("os._exit(0)", "process.exited", "exited with status 0"),
    Fault(
      "os.kill(os.getpid(), signal.SIGKILL)", "process.signalled", "signal 9 (SIGKILL)"),
    Fault("os.kill(os.getpid(), signal.SIGSEGV)", "process.signalled", "signal 11 (SIGSEGV)"),
    Fault(
      "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()", "process.timeout",
      "did not answer within 1 s", timeoutSeconds: 1),
    Fault("while True: receive()", "process.timeout", "did not answer", timeoutSeconds: 1),
    Fault(
      "while True: send({'log': {'text': 'again'}})", "process.timeout", "did not answer",
      timeoutSeconds: 1),
    Fault("send_bytes(b'hello')", "process.garbage", "not JSON: line 1, column 1"),
    Fault("send_bytes(b'')", "process.garbage", "the JSON ends too early"),
    Fault("channel.sendall(b'no length\\n')", "process.tooLong", "at most 33554432 are read"),
    Fault(
      "channel.sendall(struct.pack('<I', 1 << 30))", "process.tooLong",
      "a message of 1073741824 bytes"),
    Fault("send_bytes(b'[' * 100 + b']' * 100)", "process.garbage", "nested more than 64 deep"),
    Fault(
      "scalar({'sequence': 103}, 1)", "process.wrongFrame",
      "answered frame 103 when it was given frame 3"),
    Fault(
      "scalar(frame, 1); scalar(frame, 1); continue", "process.repeated", "twice"),
    Fault("send({'hi': 1})", "process.unexpected", "sent an object with 'hi' instead"),
    Fault("scalar(frame, float('nan'))", "process.garbage", "JSON has no NaN or Infinity"),
    Fault("scalar(frame, None)", "process.badValue", "must be a number, is null"),
    Fault(
      "send({'sequence': 3, 'value': {'boxes': []}})", "process.badValue", "unknown key 'boxes'"),
    Fault("send({'sequence': 3})", "process.badValue", "either 'value' or 'error'"),
    Fault(
      "send({'sequence': 3, 'error': {'code': 'a b', 'message': ''}})", "process.badValue",
      "no spaces"),
    Fault(
      "channel.close(); signal.pause()", "process.closed", "closed file 3 and did not exit"),
  ]

  @Test(arguments: faults, [0, 4])
  func `a fault ends the run at its frame, with the program's last words`(
    fault: Fault, workers: Int
  ) throws {
    let program = try PythonProgram(
      """
      ready()
      for frame in frames():
          if frame["sequence"] \(fault.isRepeated ? ">=" : "==") 3:
              print("last \\x1b[31mwords", file=sys.stderr, flush=True)
              \(fault.body)
          scalar(frame, 1)
      """)
    do {
      let pipeline = try program.pipeline(timeoutSeconds: fault.timeoutSeconds)
      let (outcome, _) = try run(pipeline, workers: workers)
      let halt = try #require(outcome.halt)
      #expect(halt.code == fault.code, "\(halt)")
      #expect(halt.node == "process" && fault.isAt(halt.frame.sequence), "\(halt)")
      #expect(halt.message.contains(fault.text), "\(halt)")
      #expect(halt.message.contains(#"last \u{1B}[31mwords"#) || fault.body.contains("log"))
      #expect(!halt.isRecoverable)
    }
    for id in program.started { #expect(isGone(process: id)) }
  }

  /// The action of a process whose parent ends at once.
  @Test(arguments: [
    "pass", "os.setsid()",
    // Its parent leaves the session as well, and it has an empty environment.
    "os.execve(sys.executable, [sys.executable, '-c', 'import signal; signal.pause()'], {})",
  ])
  func `processes that the program started end with it`(body: String) throws {
    let program = try PythonProgram(
      """
      ready()
      for frame in frames():
          if os.fork() == 0:
              os.setsid()
              if os.fork() == 0:
                  note("started", str(os.getpid()))
                  \(body.replacing("os.setsid()", with: "pass"))
                  signal.pause()
              \(body.hasPrefix("os.execve") ? "signal.pause()" : "os._exit(0)")
          \(body.hasPrefix("os.execve") ? "pass" : "os.wait()")
          while len(open(os.path.join(here, "started")).readlines()) < 2: pass
          signal.pause()
      """)
    let (outcome, _) = try run(try program.pipeline(timeoutSeconds: 2), workers: 0)
    #expect(outcome.halt?.code == "process.timeout")
    #expect(program.started.count == 2)
    for id in program.started { #expect(isGone(process: id)) }
  }

  /// As `env -i setsid …` does in a shell that ends.
  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/limits"), "no /proc"),
    arguments: [0, 3])
  func `a process with nothing of the program but its limits ends with the run`(status: Int) throws
  {
    let program = try PythonProgram(
      """
      ready()
      for frame in frames():
          if frame["sequence"] == 0 and os.fork() == 0:
              os.setsid()
              if os.fork() == 0:
                  note("started", str(os.getpid()))
                  os.closerange(3, 5)  # or its end would not be seen
                  code = "import signal, sys; open(sys.argv[1], 'w'); signal.pause()"
                  os.execve(sys.executable, ["p", "-c", code, os.path.join(here, "left")], {})
              os._exit(0)
          if frame["sequence"] == 0:
              os.wait()
              while not os.path.exists(os.path.join(here, "left")): pass
          if frame["sequence"] == \(status):
              os._exit(\(status)) if \(status) else None
          scalar(frame, 1)
      """)
    do {
      let (outcome, _) = try run(try program.pipeline(), workers: 0)
      #expect((outcome.halt != nil) == (status != 0))
      // A pure program is started a second time.
      #expect(program.started.count == (status == 0 ? 2 : 3))
    }
    for id in program.started { #expect(isGone(process: id)) }
  }

  @Test func `a pure program that crashes is started again, once, and that is noticed`() throws {
    let flaky = try PythonProgram(
      """
      ready()
      for frame in frames():
          if frame["sequence"] == 3 and len(open(os.path.join(here, "started")).readlines()) == 1:
              print("no memory", file=sys.stderr, flush=True)
              os.abort()
          scalar(frame, frame["sequence"])
      """)
    let notices = Locked<[StageNotice]>([])
    let (outcome, heard) = try run(try flaky.pipeline()) { notice in
      notices.withLock { $0.append(notice) }
    }
    #expect(outcome.halt == nil && heard.values == (0..<8).map(Double.init))
    #expect(flaky.started.count == 2)
    let notice = try #require(notices.withLock { $0 }.first)
    #expect(notices.withLock { $0.count } == 1 && notice.kind == .repaired)
    #expect(notice.failure.code == "process.restarted" && notice.failure.node == "process")
    #expect(notice.failure.frame == FrameID(track: 0, sequence: 3))
    #expect(
      notice.failure.message.contains("was ended by signal 6 (SIGABRT), and answered when")
        && notice.failure.message.hasSuffix("its last lines: no memory"), "\(notice)")

    let broken = try PythonProgram(
      "ready()\nfor frame in frames():\n    os.abort()\n")
    let (halted, _) = try run(try broken.pipeline(), workers: 0)
    #expect(halted.halt?.code == "process.signalled")
    #expect(broken.started.count == 2)
  }

  private static let pixels = [UInt8](repeating: 1, count: 32)
  private static let frame = Frame(format: .gray, width: 8, height: 4, planes: [pixels])

  private func context(_ sequence: Int, of run: StageRun) -> StageContext {
    var context = StageContext(frame: FrameID(track: 0, sequence: sequence), timestamp: .zero)
    (context.run, context.node) = (run, "process")
    return context
  }

  private func code(_ outcome: StageOutcome) -> String? {
    if case .failure(let error) = outcome { error.code } else { nil }
  }

  @Test func `a run that has ended waits for no answer, and a missing one is noticed before`()
    throws
  {
    let program = try PythonProgram("ready()\nfor frame in frames():\n    signal.pause()\n")
    let pool = try ForeignPool(
      ForeignProgram(command: program.command, output: .scalars, timeoutSeconds: 3_600))
    let notices = Locked<[StageNotice]>([])
    let ended = Locked<StageRun?>(nil)
    let run = StageRun { notice in
      notices.withLock { $0.append(notice) }
      ended.withLock { $0 }?.end()
    }
    ended.withLock { $0 = run }
    #expect(code(pool.compute(Self.frame, context(0, of: run))) == "process.abandoned")
    #expect(code(pool.compute(Self.frame, context(1, of: run))) == "process.abandoned")
    let notice = try #require(notices.withLock { $0 }.first)
    #expect(notices.withLock { $0.count } == 1 && notice.kind == .slow)
    #expect(notice.failure.message.contains("has not answered for 2 s; its timeout is 3600 s"))
    #expect(program.started.count == 1)
    for id in program.started { #expect(isGone(process: id)) }
  }

  @Test func `after a missing answer the other frames of the run get less time`() throws {
    let program = try PythonProgram("ready()\nfor frame in frames():\n    signal.pause()\n")
    let pool = try ForeignPool(
      ForeignProgram(command: program.command, output: .scalars, timeoutSeconds: 1.25))
    func message(_ sequence: Int, _ run: StageRun) -> String {
      guard case .failure(let error) = pool.compute(Self.frame, context(sequence, of: run)) else {
        return "it was answered"
      }
      return error.message
    }
    let (first, second) = (StageRun(), StageRun())
    #expect(message(1, first).contains("did not answer within 1.25 s"))
    #expect(message(0, first).contains("did not answer within 1 s"))
    #expect(message(0, second).contains("did not answer within 1.25 s"))
  }

  @Test func `each line that a program writes can be heard`() throws {
    let program = try PythonProgram(
      """
      import atexit
      atexit.register(print, "last")
      ready()
      for frame in frames():
          print("out", frame["sequence"], flush=True)
          send({"log": {"level": "info", "text": "logged\\x1b[0m"}})
          scalar(frame, 1)
      """)
    let lines = Locked<[String]>([])
    let listener = ProgramListener { program, line in
      lines.withLock { $0.append("\(program.hasPrefix("python3 ")): \(line)") }
    }
    do {
      var request = ForeignProgram(command: program.command, output: .scalars)
      request.listener = listener
      let pool = try ForeignPool(request)
      #expect(code(pool.compute(Self.frame, context(7, of: StageRun()))) == nil)
    }
    for id in program.started { #expect(isGone(process: id)) }
    let logged = #"true: info: logged\u{1B}[0m"#
    // The socket and the pipe have no common order.
    #expect(lines.withLock { $0.sorted() } == [logged, "true: last", "true: out 7"].sorted())
  }

  @Test func `a log message in the middle of a line is heard by itself`() throws {
    let lines = Locked<[String]>([])
    var program = ForeignProgram(command: ["any"], output: .scalars)
    program.listener = ProgramListener { _, line in lines.withLock { $0.append(line) } }
    let tail = try ProgramTail(program)
    tail.append(Array("out".utf8))
    tail.append(line: "info: one\ntwo")
    tail.append(Array(" 7\n".utf8))
    #expect(lines.withLock { $0 } == ["info: one", "two", "out 7"])
  }

  @Test func `a program that is another one after its restart ends the run`() throws {
    let program = try PythonProgram(
      """
      ready(version=len(open(os.path.join(here, "started")).readlines()))
      for frame in frames():
          os.abort()
      """)
    let halt = try #require(try run(try program.pipeline(), workers: 0).outcome.halt)
    #expect(halt.code == "process.otherProgram" && halt.message.contains("test 2, not test 1"))
  }

  @Test func `a stateful program that crashes is not started again`() throws {
    let program = try PythonProgram(
      """
      ready(state="stateful")
      for frame in frames():
          if frame is not None:
              sys.exit(1)
      """)
    let (outcome, _) = try run(try program.pipeline())
    #expect(outcome.halt?.code == "process.exited" && outcome.halt?.frame.sequence == 0)
    #expect(program.started.count == 1)
  }
}

/// Programs that do not become ready.
@Suite(.enabled(if: PythonProgram.isHere, SkipReason.noPython)) struct ProgramStartTests {
  @Test(arguments: [
    ("sys.exit('no model')", "exited with status 1; its last lines: no model"),
    ("send({'hello': 1})", "sent an object with 'hello' before 'ready'"),
    ("ready(v=2); signal.pause()", "the program speaks version 2 of the protocol"),
    (
      "ready(output='classes'); signal.pause()",
      "returns classes, and the stage's output is scalars"
    ),
    ("ready(state='odd'); signal.pause()", "'odd' is not a state"),
    ("ready(formats=['RGB']); signal.pause()", "'RGB' is not a pixel format. Did you mean"),
    ("send({'ready': {}}); signal.pause()", "'v' is missing"),
  ])
  func `a program that does not become ready is an error before the first frame`(
    body: String, text: String
  ) throws {
    let program = try PythonProgram(body)
    let error = #expect(throws: ForeignError.self) { try program.pipeline() }
    #expect(error?.code == "process.notReady")
    #expect(error?.cause?.contains(text) == true, "\(error as Any)")
    // Started by itself, a program that has said why would only say that Retake has to start it.
    let advice = error?.facts.advice ?? ""
    #expect(advice.hasPrefix(body.hasPrefix("sys.exit") ? "Fix the error in its" : "Start it by"))
    for id in program.started { #expect(isGone(process: id)) }
  }

  @Test func `a start has a limit of its own`() throws {
    let program = try PythonProgram("signal.pause()")
    var start = ForeignProgram(
      command: program.command, output: .scalars, timeoutSeconds: 0.5)
    #expect(start.startSeconds == 30)
    start.startSeconds = 3
    let error = #expect(throws: ForeignError.self) { try ForeignPool(start) }
    #expect(error?.cause?.contains("did not answer within 3 s") == true, "\(error as Any)")
    for id in program.started { #expect(isGone(process: id)) }
  }

  @Test func `a program that is not there is named`() {
    let chain = Pipeline.named("none").source(PythonProgram.source(1))
    for name in ["no-such-program-anywhere", "./no-such-program"] {
      let error = #expect(throws: ForeignError.self) {
        try chain.process([name], output: .detections)
      }
      #expect(error == .notFound(name))
    }
    #expect(throws: OptionError.self) { try chain.process([], output: .detections) }
    #expect(throws: OptionError.self) {
      try chain.process(["python3"], output: .classes, instances: 0)
    }
  }
}

@Suite struct ProgramTailTests {
  private func text(_ string: String) -> String { ProgramTail.text(of: Array(string.utf8)) }

  @Test func `as many of the last lines as fit are kept`() {
    #expect(text("one\n\ntwo\nthree") == "one | two | three")
    let long = String(repeating: "x", count: 590)
    #expect(text("first\n\(long)\nlast") == "\(long) | last")
    #expect(text(String(repeating: "y", count: 5_000)).count == 600)
  }

  @Test func `what a terminal would obey is escaped`() {
    #expect(text("a\u{1B}[2Jb\u{202e}c\td") == #"a\u{1B}[2Jb\u{202E}c d"#)
  }
}
