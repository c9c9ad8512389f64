import Foundation
import Retake
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeStages
import RetakeTestSupport
import Testing

@testable import RetakeForeign

/// Programs that are complete pipelines. The frames are 1/30 s apart.
@Suite(.enabled(if: PythonProgram.isHere, SkipReason.noPython)) struct WholeProgramTests {
  /// The beginning of the programs. `body` is run for each frame and each timer.
  static func source(_ body: String, ready: String = "") -> String {
    """
    def out(sink, name, value, sequence=None):
        send({"out": {"sink": sink, "sequence": last if sequence is None else sequence,
                      "value": {"scalars": [{"name": name, "value": value}]}}})

    def timer(number, at):
        send({"timer": {"id": number, "atNs": at}})

    def done(message):
        if "timer" in message:
            send({"done": message})
        else:
            send({"done": message["frame"]["sequence"]})

    ready(state="stateful", sinks={"a": "scalars", "b": "scalars"}\(ready))
    last = None
    while True:
        message = receive()
        if "reset" in message:
            send(message)
            last = None
            continue
        if "bye" in message:
            sys.exit(0)
        frame = message.get("frame")
        due = message.get("timer")
        now = message["nowNs"] if frame is None else frame["nowNs"]
        if frame is not None:
            last = frame["sequence"]
    \(body.split(separator: "\n", omittingEmptySubsequences: false)
      .map { "    \($0)" }.joined(separator: "\n"))
        done(message)
    """
  }

  private static func stage(
    _ program: PythonProgram, transport: ForeignTransport = .files, clock: ForeignClock = .real,
    timeoutSeconds: Double = 60
  ) throws -> AnyStage {
    var foreign = ForeignProgram(
      command: program.command, output: .program, timeoutSeconds: timeoutSeconds)
    (foreign.transport, foreign.clock) = (transport, clock)
    return try AnyStage.process(foreign, options: .object([:]))
  }

  static func pipeline(
    _ program: PythonProgram, frames: Int = 6, transport: ForeignTransport = .files,
    clock: ForeignClock = .real, timeoutSeconds: Double = 60
  ) throws -> Pipeline {
    let chain: PipelineChain<ProgramOuts> = Pipeline.named("whole")
      .source(PythonProgram.source(frames)).appending(
        try stage(program, transport: transport, clock: clock, timeoutSeconds: timeoutSeconds),
        id: nil)
    return Pipeline.combining(chain.results("a"), chain.results("b"))
  }

  /// `0a tick=1 tock=2`: the numbers of each frame at each sink; empty outcomes are left out.
  private func lines(_ heard: Listener) -> [String] {
    heard.frames.flatMap { frame in
      frame.result.outcomes.compactMap { outcome -> String? in
        guard case .facts(let facts) = outcome.content, !facts.isEmpty else { return nil }
        let words = facts.map { fact in
          if case .scalar(let name, let value) = fact { "\(name)=\(Int(value))" } else { "?" }
        }
        return "\(frame.result.id.sequence)\(outcome.sink) " + words.joined(separator: " ")
      }
    }
  }

  @Test func `values go to the sinks that they name, and any number of them for a frame`() throws {
    let program = try PythonProgram(
      Self.source(
        """
        for number in range(last):
            out("a", "n", number)
        if last == 1:
            out("b", "one", 1)
        """))
    let (outcome, heard) = try run(try Self.pipeline(program, frames: 4))
    #expect(outcome.headline.delivered == 4)
    #expect(lines(heard) == ["1a n=0", "1b one=1", "2a n=0 n#2=1", "3a n=0 n#2=1 n#3=2"])
  }

  @Test func `a frame names the length and the rate of its track`() throws {
    let program = try PythonProgram(
      Self.source(
        """
        out("a", "count", frame["frameCount"])
        out("a", "rate", round(frame["frameRate"]))
        out("a", "rotation", frame["rotation"])
        """))
    let (_, heard) = try run(try Self.pipeline(program, frames: 2))
    #expect(lines(heard) == ["0a count=2 rate=30 rotation=0", "1a count=2 rate=30 rotation=0"])
  }

  @Test func `a frame says whether it is a key frame, if that is known`() throws {
    let frame = Frame(format: .gray, width: 2, height: 1, planes: [[1, 2]])
    let planes = FrameMessage.Planes(slot: 0, places: [.init(offset: 0, stride: 2)])
    for (isKey, found) in [(true, JSONValue.bool(true)), (false, .bool(false)), (nil, nil)] {
      var context = StageContext(frame: FrameID(track: 0, sequence: 3), timestamp: .zero)
      context.isKeyFrame = isKey
      let message = try JSONValue(
        parsing: Data(FrameMessage(frame, context, planes: planes, now: 0).text.utf8))
      #expect(message["frame"]?["keyFrame"] == found)
      #expect(message.canonicalText == FrameMessage(frame, context, planes: planes, now: 0).text)
    }
  }

  @Test func `a timer is called in virtual time, and belongs to the frame before it`() throws {
    let program = try PythonProgram(
      Self.source(
        """
        if due is not None:
            out("b", "due", due)
            out("b", "at", now)
        elif last == 0:
            timer(1, 50_000_000)    # between frame 1 and frame 2
            timer(2, 33_333_333)    # at the time of frame 1
            timer(3, 90_000_000)
            timer(4, 120_000_000)   # behind frame 3
        elif last == 2:
            send({"cancel": 3})
        """))
    for workers in [0, 1, 2, 4, 8] {
      let (_, heard) = try run(try Self.pipeline(program, frames: 4), workers: workers)
      #expect(
        lines(heard) == [
          "0b due=2 at=33333333", "1b due=1 at=50000000", "3b due=4 at=120000000",
        ], "\(workers)")
    }
  }

  @Test func `a program that always sets the next timer ends with the frames`() throws {
    let program = try PythonProgram(
      Self.source(
        """
        if frame is None or last == 0:
            timer(1, now + 20_000_000)
        if frame is None:
            out("a", "at", now // 1_000_000)
        """))
    let (_, heard) = try run(try Self.pipeline(program, frames: 3))
    #expect(lines(heard) == ["0a at=20", "1a at=40 at#2=60", "2a at=80"])
  }

  @Test func `decisions, results and digests are the same for any number of workers`() throws {
    let program = try PythonProgram(
      Self.source(
        """
        out("a", "n", last)
        if frame is not None and last % 3 == 0:
            timer(1, now + 70_000_000)
        if due is not None:
            out("b", "at", now)
        """))
    let pipeline = try Self.pipeline(program, frames: 60)
    let first = try run(pipeline, workers: 0)
    #expect(lines(first.heard).count > 70)
    for workers in [1, 2, 4, 8] {
      let again = try run(pipeline, workers: workers)
      #expect(again.outcome.decisionDigest == first.outcome.decisionDigest)
      #expect(again.heard.frames.map(\.result) == first.heard.frames.map(\.result))
      #expect(again.heard.frames.map(\.digests) == first.heard.frames.map(\.digests))
    }
    #expect(program.started.count == 1)
  }

  @Test func `a frame whose value is open is waited for, however many frames end behind it`() throws
  {
    let program = try PythonProgram(
      Self.source("if due is None: timer(1, 3_000_000_000)\nelse: out('a', 'n', 1)"))
    let chain: PipelineChain<ProgramOuts> = Pipeline.named("throttled")
      .source(PythonProgram.source(130)).sample(every: 100).appending(
        try Self.stage(program), id: nil)
    let pipeline = chain.results("a")
    for workers in [0, 4] {
      let listener = Listener()
      var options = RunOptions(workers: workers)
      // Far fewer than the frames that are throttled between two calls.
      options.window = 2
      _ = try PreparedRun(pipeline, catalog: StageRegistry.builtIn).run(options, observer: listener)
      #expect(listener.frames.map(\.result.id.sequence) == Array(0..<130))
      #expect(lines(listener) == ["0a n=1", "100a n=1"])
    }
  }

  @Test func `a program on its standard streams gets the same pixels`() throws {
    let streams = try PythonProgram(
      Self.source(
        """
        data = exactly(frame["bytes"])
        offset, stride = frame["planes"][0]
        out("a", "sum", sum(data[offset:offset + stride * frame["height"]]))
        """), transport: .stdio)
    let files = try PythonProgram(
      Self.source(
        "offset, stride = frame['planes'][0]\n"
          + "data = b''.join(row(frame, y) for y in range(frame['height']))\n"
          + "out('a', 'sum', sum(data))"))
    let expected = (0..<6).map { "\($0)a sum=\($0 * 32)" }
    #expect(lines(try run(try Self.pipeline(files)).heard) == expected)
    let pipeline = try Self.pipeline(streams, transport: .stdio)
    #expect(lines(try run(pipeline, workers: 0).heard) == expected)
    #expect(lines(try run(pipeline, workers: 4).heard) == expected)
  }

  @Test(.enabled(if: FakeClock.library() != nil, "libfaketime is not installed"))
  func `a clock that is loaded into the program shows virtual time, to the nanosecond`() throws {
    let program = try PythonProgram(
      Self.source(
        """
        import time
        out("a", "ns", time.time_ns() - \(FakeClock.originNanoseconds) - now)
        out("a", "steady", time.monotonic_ns() - \(FakeClock.originNanoseconds) - now)
        if frame is not None:
            timer(1, now + 5_000_001)
        """))
    let (_, heard) = try run(try Self.pipeline(program, frames: 3, clock: .preload))
    #expect(
      lines(heard) == (0..<3).map { "\($0)a ns=0 steady=0 ns#2=0 steady#2=0" })
  }

  @Test func `a library that is not there is a typed error`() {
    #expect(FakeClock.library(under: "/no/such/folder") == nil)
    let facts = ForeignError.noFakeClock("app").facts
    #expect(facts.advice?.contains("apt-get install libfaketime") == true)
  }

  @Test func `sinks that the program does not have, and stages behind it, are refused`() throws {
    let program = try PythonProgram(Self.source("pass"))
    let chain: PipelineChain<ProgramOuts> = Pipeline.named("whole")
      .source(PythonProgram.source(2)).appending(try Self.stage(program), id: nil)
    let wrong = #expect(throws: PipelineError.self) { try chain.results("c").validate() }
    #expect(wrong.map { "\($0)" }?.contains("has no sink 'c'") == true)
    let between = #expect(throws: PipelineError.self) {
      try chain.sample(every: 2).results("a").validate()
    }
    #expect(between.map { "\($0)" }?.contains("is not a sink") == true)
  }

  // MARK: Faults

  struct Fault: Sendable, CustomTestStringConvertible {
    /// At frame 3, or in the timer that frame 3 set.
    var body: String
    var code: String
    var text: String
    var isInTimer = false
    /// Where it is noticed.
    var sequences: ClosedRange<Int>
    var timeoutSeconds = 60.0

    init(
      _ body: String, _ code: String, _ text: String, inTimer: Bool = false,
      at sequences: ClosedRange<Int> = 3...3, timeoutSeconds: Double = 60
    ) {
      (self.body, self.code, self.text) = (body, code, text)
      (isInTimer, self.sequences, self.timeoutSeconds) = (inTimer, sequences, timeoutSeconds)
    }

    var testDescription: String { "\(code): \(body)" }
  }

  static let faults = [
    Fault("continue", "process.timeout", "did not answer within 1 s", timeoutSeconds: 1),
    Fault(
      "done(message); done(message); continue", "process.repeated", "answered frame 3 twice",
      at: 3...5),
    Fault(
      "send({'done': 7}); continue", "process.wrongFrame",
      "answered frame 7 when it was given frame 3"),
    Fault(
      "done(message); out('a', 'late', 1); continue", "process.unexpected",
      "an 'out' after 'done' with frame 3", at: 3...5),
    Fault("out('a', 'x', 1, 1)", "process.wrongFrame", "frame 1 with 'out'"),
    Fault("out('c', 'x', 1)", "process.badValue", "no sink 'c'"),
    Fault(
      "send({'out': {'sink': 'a', 'sequence': 3, 'value': {'classes': []}}})", "process.badValue",
      "unknown key 'classes'"),
    Fault("send({'timer': {'id': 1}})", "process.badValue", "/timer"),
    Fault("send({'done': 'x'})", "process.badValue", "/done"),
    Fault("send({'sequence': 3, 'value': {}})", "process.unexpected", "before 'done' with frame 3"),
    Fault(
      "send({'error': {'code': 'app.camera', 'message': 'no lens'}}); continue", "app.camera",
      "ended the run: no lens"),
    Fault(
      "done(message); send({'error': {'code': 'app.late', 'message': 'no lens'}}); continue",
      "app.late", "ended the run: no lens", at: 3...5),
    Fault("send({'error': {'code': 'a b', 'message': ''}})", "process.badValue", "no spaces"),
    Fault(
      "for n in range(9): send_bytes(b'{\"cancel\": 1' + b' ' * 4_000_000 + b'}')",
      "process.unexpected", "more than 33554432 bytes of messages with frame 3"),
    Fault("sys.exit(4)", "process.exited", "exited with status 4"),
    Fault("os._exit(0)", "process.exited", "exited with status 0"),
    Fault("os.abort()", "process.signalled", "signal 6 (SIGABRT)"),
    Fault("send_bytes(b'garbage')", "process.garbage", "not JSON"),
    Fault(
      "signal.pause()", "process.timeout", "did not answer within 1 s", timeoutSeconds: 1),
    Fault(
      "continue", "process.timeout", "did not answer within 1 s, at timer 9 of 110000000 ns",
      inTimer: true, at: 4...4, timeoutSeconds: 1),
    Fault(
      "sys.exit(4)", "process.exited", "status 4, at timer 9 of 110000000 ns", inTimer: true,
      at: 4...4),
    Fault(
      "send({'done': {'timer': 8, 'nowNs': now}}); continue", "process.wrongFrame",
      "answered timer 8 of 110000000 ns when it was given timer 9", inTimer: true, at: 4...4),
    Fault(
      "timer(9, 0)", "process.endlessTimers", "sets timers without an end at 110000000 ns",
      inTimer: true, at: 4...4),
  ]

  @Test(arguments: faults, [0, 4])
  func `a fault ends the run at its frame and node, with the program's last words`(
    fault: Fault, workers: Int
  ) throws {
    let condition = fault.isInTimer ? "due == 9" : "frame is not None and last == 3"
    let program = try PythonProgram(
      Self.source(
        """
        if \(fault.isInTimer ? "True" : "False") and frame is not None and last == 3:
            timer(9, 110_000_000)
        if \(condition):
            print("last words", file=sys.stderr, flush=True)
            \(fault.body)
        """))
    do {
      let (outcome, _) = try run(
        try Self.pipeline(program, frames: 8, timeoutSeconds: fault.timeoutSeconds),
        workers: workers)
      let halt = try #require(outcome.halt)
      #expect(halt.code == fault.code, "\(halt)")
      #expect(halt.node == "process" && fault.sequences.contains(halt.frame.sequence), "\(halt)")
      #expect(halt.message.contains(fault.text), "\(halt)")
      #expect(halt.message.contains("last words") && !halt.isRecoverable, "\(halt)")
    }
    for id in program.started { #expect(isGone(process: id)) }
  }

  @Test(arguments: [
    ("done(message); out('a', 'late', 1); continue", "process.unexpected", "frame is not None"),
    ("sys.exit(4)", "process.exited", "frame is None"),
    (
      "done(message); send({'error': {'code': 'app.late', 'message': ''}}); continue", "app.late",
      "frame is not None"
    ),
  ])
  func `a fault behind the last frame halts the run there`(
    body: String, code: String, condition: String
  ) throws {
    let program = try PythonProgram(
      Self.source(
        """
        if \(code == "process.exited" ? "True" : "False") and frame is not None and last == 5:
            timer(9, now + 1)
        if \(condition) and last == 5:
            \(body)
        """))
    let (outcome, heard) = try run(try Self.pipeline(program), workers: 2)
    #expect(outcome.halt?.code == code && outcome.halt?.frame.sequence == 5)
    #expect(heard.frames.count == 6)
  }
}
