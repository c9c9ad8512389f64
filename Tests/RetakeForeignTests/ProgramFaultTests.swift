import Foundation
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeStages
import RetakeTestSupport
import Testing

@testable import RetakeForeign

/// Programs that do what no program may. Each is attributed to its frame, and leaves no process.
@Suite(.enabled(if: PythonProgram.isHere, SkipReason.noPython)) struct ProgramFaultTests {
  /// What a program does at frame 3, and what the run then says.
  struct Fault: Sendable, CustomTestStringConvertible {
    var body: String
    var code: String
    var text: String
    var timeoutSeconds = 60.0

    init(_ body: String, _ code: String, _ text: String, timeoutSeconds: Double = 60) {
      (self.body, self.code, self.text) = (body, code, text)
      self.timeoutSeconds = timeoutSeconds
    }

    /// A second answer is found at the next frame of the copy, whichever worker gives it one. There
    /// must be one, so the program does it again.
    var isRepeated: Bool { code == "process.repeated" }

    func isAt(_ sequence: Int) -> Bool { isRepeated || sequence == 3 }

    var testDescription: String { "\(code): \(body)" }
  }

  static let faults = [
    Fault("sys.exit(3)", "process.exited", "exited with status 3"),
    Fault("os._exit(0)", "process.exited", "exited with status 0"),
    Fault(
      "os.kill(os.getpid(), signal.SIGKILL)", "process.signalled", "signal 9 (SIGKILL)"),
    Fault(
      "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()", "process.timeout",
      "gave no answer within 1 s", timeoutSeconds: 1),
    Fault("while True: receive()", "process.timeout", "gave no answer", timeoutSeconds: 1),
    Fault(
      "while True: send({'log': {'text': 'again'}})", "process.timeout", "gave no answer",
      timeoutSeconds: 1),
    Fault("send_bytes(b'hello')", "process.garbage", "not JSON: line 1, column 1"),
    Fault("send_bytes(b'')", "process.garbage", "the JSON ends too early"),
    Fault("channel.sendall(b'no length\\n')", "process.tooLong", "at most 4194304 are read"),
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
      #expect(halt.message.contains(#"last \u{1b}[31mwords"#) || fault.body.contains("log"))
      #expect(!halt.isRecoverable)
    }
    for id in program.started { #expect(isGone(process: id)) }
  }

  @Test func `processes that the program started end with it`() throws {
    let program = try PythonProgram(
      """
      ready()
      for frame in frames():
          if os.fork() == 0:
              if os.fork() == 0:
                  note("started", str(os.getpid()))
                  signal.pause()
              os._exit(0)
          os.wait()
          while not os.path.exists(os.path.join(here, "started")): pass
          signal.pause()
      """)
    let (outcome, _) = try run(try program.pipeline(timeoutSeconds: 2), workers: 0)
    #expect(outcome.halt?.code == "process.timeout")
    #expect(program.started.count == 2)
    for id in program.started { #expect(isGone(process: id)) }
  }

  @Test func `a pure program that crashes is started again, once`() throws {
    let flaky = try PythonProgram(
      """
      ready()
      for frame in frames():
          if frame["sequence"] == 3 and len(open(os.path.join(here, "started")).readlines()) == 1:
              os.abort()
          scalar(frame, frame["sequence"])
      """)
    let (outcome, heard) = try run(try flaky.pipeline())
    #expect(outcome.halt == nil && heard.values == (0..<8).map(Double.init))
    #expect(flaky.started.count == 2)

    let broken = try PythonProgram(
      "ready()\nfor frame in frames():\n    os.abort()\n")
    let (halted, _) = try run(try broken.pipeline(), workers: 0)
    #expect(halted.halt?.code == "process.signalled")
    #expect(broken.started.count == 2)
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
    for id in program.started { #expect(isGone(process: id)) }
  }

  @Test func `a start has a limit of its own`() throws {
    let program = try PythonProgram("signal.pause()")
    var start = ForeignProgram(
      command: program.command, output: .scalars, timeoutSeconds: 0.5)
    #expect(start.startSeconds == 30)
    start.startSeconds = 3
    let error = #expect(throws: ForeignError.self) { try ForeignPool(start) }
    #expect(error?.cause?.contains("gave no answer within 3 s") == true, "\(error as Any)")
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
    #expect(text("a\u{1b}[2Jb\u{202e}c\td") == #"a\u{1b}[2Jb\u{202e}c d"#)
  }
}
