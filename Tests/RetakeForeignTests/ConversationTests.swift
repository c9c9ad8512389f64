import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeProcess
import RetakeStages
import RetakeTestSupport
import Testing

@testable import RetakeForeign

/// Programs that answer as they must.
@Suite(.enabled(if: PythonProgram.isHere, SkipReason.noPython)) struct ConversationTests {
  private static let sums = """
    ready()
    for frame in frames():
        scalar(frame, sum(sum(row(frame, y)) for y in range(frame["height"])) + 0.5)
    """

  @Test func `a program computes each frame from its pixels`() throws {
    let (outcome, heard) = try run(try PythonProgram(Self.sums).pipeline())
    #expect(outcome.headline.delivered == 8)
    let expected: [Double] = (0..<8).map { Double($0 * 32) + 0.5 }
    #expect(heard.values == expected)
  }

  @Test func `values and digests are the same for any number of workers and copies`() throws {
    let program = try PythonProgram(Self.sums)
    let first = try run(try program.pipeline(frames: 60), workers: 0)
    for (workers, instances) in [(1, 1), (2, 2), (4, 1), (8, 3)] {
      let pipeline = try program.pipeline(frames: 60, instances: instances)
      let again = try run(pipeline, workers: workers)
      #expect(again.outcome.decisionDigest == first.outcome.decisionDigest)
      #expect(again.heard.frames.map(\.digests) == first.heard.frames.map(\.digests))
      #expect(again.heard.values == first.heard.values)
    }
  }

  /// Collects the frames of a batch, and exits if there are more than `most`.
  private func batches(atMost most: Int) throws -> PythonProgram {
    try PythonProgram(
      """
      ready(batch=True)
      batch = []
      for frame in frames():
          batch.append(frame)
          if frame.get("batch", 1) > 1:
              continue
          if len(batch) > \(most):
              os._exit(3)
          note("sizes", str(len(batch)))
          for each in batch:
              scalar(each, sum(row(each, 0)))
          batch = []
      """)
  }

  private func batched(_ program: PythonProgram) throws -> Pipeline {
    try Pipeline.named("foreign").source(PythonProgram.source(8))
      .process(program.command, output: .scalars)
      .queue(capacity: 3).batch(max: 3, wait: .seconds(1)).results("values")
  }

  private static let rows = (0..<8).map { Double($0 * 8) }

  @Test func `a program gets the frames of a batch before it answers`() throws {
    let program = try batches(atMost: 3)
    let (outcome, heard) = try run(try batched(program))
    #expect(outcome.headline.delivered == 8)
    #expect(heard.values == Self.rows)
    #expect(program.lines(of: "sizes") == ["3", "3", "2"])
  }

  @Test func `a program that fails with a batch gets its frames one by one`() throws {
    let program = try batches(atMost: 2)
    let notices = Locked<[String]>([])
    let (outcome, heard) = try run(try batched(program)) { notice in
      notices.withLock { $0.append(notice.failure.code) }
    }
    #expect(outcome.halt == nil && heard.values == Self.rows)
    #expect(program.lines(of: "sizes") == ["1", "1", "1", "1", "1", "1", "2"])
    #expect(notices.withLock { $0 } == ["process.batch", "process.batch"])
  }

  @Test func `a stateful program begins each run from nothing, and sees its frames in order`()
    throws
  {
    let program = try PythonProgram(
      """
      ready(state="stateful")
      count = 0
      for frame in frames():
          if frame is None:
              count = 0
              note("resets", "reset")
              continue
          count += 1
          scalar(frame, count * 1000 + frame["sequence"])
      """)
    let pipeline = try program.pipeline(frames: 40)
    let expected: [Double] = (0..<40).map { Double($0 * 1_001 + 1_000) }
    for workers in [0, 1, 2, 8] {
      let (_, heard) = try run(pipeline, workers: workers)
      #expect(heard.values == expected, "\(workers)")
    }
    #expect(program.lines(of: "resets").count == 4)
    #expect(program.started.count == 1)
  }

  @Test func `the formats of a program decide about a conversion`() throws {
    let program = try PythonProgram(
      """
      ready(formats=["RGB24"])
      for frame in frames():
          stride = frame["planes"][0][1]
          scalar(frame, 1 if frame["format"] == "RGB24" and stride >= 24 else 0)
      """)
    let (_, heard) = try run(try program.pipeline())
    #expect(heard.values == Array(repeating: 1, count: 8))
  }

  @Test func `detections and classes have what the program says of them`() throws {
    let program = try PythonProgram(
      """
      box = {"box": [1, 2.5, 3, 4], "score": 0.75, "class": 1, "identity": 7}
      label = {"label": "cat", "score": 0.5}
      values = {"detections": {"detections": [box]}, "classes": {"classes": [label]}}
      ready(classNames=["a", "b"])
      for frame in frames():
          send({"sequence": frame["sequence"], "value": values[hello["output"]]})
      """)
    let pixels = [UInt8](repeating: 1, count: 32)
    let frame = Frame(format: .gray, width: 8, height: 4, planes: [pixels])
    let context = StageContext(frame: FrameID(track: 0, sequence: 0), timestamp: .zero)
    func value(_ output: ForeignOutput) throws -> (any PipelineValue)? {
      let pool = try ForeignPool(ForeignProgram(command: program.command, output: output))
      return try pool.compute(frame, context).get()
    }
    let cat = Detection(
      box: Box(x: 1, y: 2.5, width: 3, height: 4), score: 0.75, classIndex: 1, identity: 7)
    let detections = try value(.detections) as? Detections
    #expect(detections == Detections([cat], classNames: ["a", "b"]))
    let classes = try value(.classes) as? Classes
    #expect(classes == Classes([Classification(label: "cat", score: 0.5)]))
  }

  @Test func `a frame that is in the shared memory is not copied`() throws {
    let program = try PythonProgram(
      """
      ready()
      for frame in frames():
          total = sum(sum(row(frame, y)) for y in range(frame["height"]))
          values = {"total": total, "slot": frame["slot"], "slots": hello["slots"],
                    "stride": frame["planes"][0][1]}
          send({"sequence": frame["sequence"], "value": {"scalars": [
              {"name": name, "value": value} for name, value in values.items()]}})
      """)
    let elsewhere = Frame(format: .gray, width: 8, height: 4, planes: [Array(0..<32)])
    let slots = try ForeignSlots(copies: 2)
    let child = try ForeignChild(
      ForeignProgram(command: program.command, output: .scalars), slots)
    defer { child.end() }
    let context = StageContext(frame: FrameID(track: 0, sequence: 0), timestamp: .zero)
    func values(_ frame: Frame) throws -> [String: Double] {
      let value = try child.compute(frame, context).get() as? Scalars
      return Dictionary(uniqueKeysWithValues: (value?.entries ?? []).map { ($0.name, $0.value) })
    }
    #expect(
      try values(elsewhere) == ["total": 496, "slot": 0, "slots": 4, "stride": 8])
    // A separate block, because other tests make their frames in the same arena.
    let block = try #require(PixelBlock(1_000, in: slots.arena))
    defer { block.free() }
    let place = UInt(bitPattern: block.base) - slots.memory.address(of: 0) + 192
    for row in 0..<4 {
      [UInt8](repeating: UInt8(row), count: 8).withUnsafeBytes {
        slots.memory.write($0, at: Int(place) + 100 * row)
      }
    }
    let base = UnsafePointer((block.base + 192).assumingMemoryBound(to: UInt8.self))
    let made = Frame(
      format: .gray, width: 8, height: 4,
      storage: FrameStorage(planes: [.init(base: base, stride: 100)]) {})
    let slot = Int(place) / ForeignSlots.slotBytes
    #expect(slot >= 2)
    #expect(
      try values(made) == ["total": 48, "slot": Double(slot), "slots": 4, "stride": 100])
  }

  @Test func `an error of the program fails its frame, and the run continues`() throws {
    let program = try PythonProgram(
      """
      ready()
      for frame in frames():
          send({"log": {"level": "info", "text": "frame"}})
          if frame["sequence"] == 3:
              send({"sequence": 3, "error": {"code": "model.shape", "message": "3 is odd"}})
          else:
              scalar(frame, 1)
      """)
    let (outcome, _) = try run(try program.pipeline())
    #expect(outcome.headline.delivered == 7 && outcome.headline.failed == 1)
    let failure = try #require(outcome.failures.first)
    #expect(failure.code == "model.shape" && failure.message == "3 is odd")
    #expect(failure.frame.sequence == 3 && failure.isRecoverable)
  }

  @Test func `an unrecoverable error of the program halts the run`() throws {
    let program = try PythonProgram(
      """
      ready()
      for frame in frames():
          send({"sequence": frame["sequence"], "error": {
              "code": "gpu.lost", "message": "gone", "severity": "unrecoverable"}})
      """)
    let (outcome, _) = try run(try program.pipeline())
    #expect(outcome.halt?.code == "gpu.lost" && outcome.halt?.frame.sequence == 0)
  }

  @Test func `an answer names the item of a forEach`() throws {
    let program = try PythonProgram(
      """
      ready()
      for frame in frames():
          item = frame["item"] if hello["options"]["echoes"] else None
          value = {"scalars": [{"name": "v", "value": frame["item"]}]}
          send({"sequence": frame["sequence"], "item": item, "value": value})
      """)
    let pixels = [UInt8](repeating: 1, count: 32)
    let frame = Frame(format: .gray, width: 8, height: 4, planes: [pixels])
    let context = StageContext(
      frame: FrameID(track: 0, sequence: 5), timestamp: .zero, item: 2)
    func outcome(echoes: Bool) throws -> StageOutcome {
      let options = JSONValue.object(["echoes": .bool(echoes)])
      return try ForeignPool(
        ForeignProgram(command: program.command, output: .scalars, options: options)
      ).compute(frame, context)
    }
    let value = try outcome(echoes: true).get() as? Scalars
    #expect(value == Scalars([.init("v", 2)]))
    guard case .failure(let error) = try outcome(echoes: false) else {
      Issue.record("an answer without the item was taken")
      return
    }
    #expect(error.code == "process.wrongFrame")
    #expect(error.message.contains("answered frame 5 when it was given frame 5, item 2"))
  }

  @Test func `the memory for pixels is sealed, and no other file is passed on`() throws {
    let program = try PythonProgram(
      """
      def is_refused(attempt):
          try:
              attempt()
              return 0
          except OSError:
              return 1

      size = os.fstat(4).st_size
      attempts = [
          lambda: os.ftruncate(4, size // 2), lambda: os.ftruncate(4, size * 2),
          lambda: mmap.mmap(4, size, prot=mmap.PROT_READ | mmap.PROT_WRITE),
          lambda: os.write(4, b"x"), lambda: os.fstat(6)]  # 5 is a copy of the module mmap
      ready()
      for frame in frames():
          values = [{"name": str(i), "value": is_refused(a)} for i, a in enumerate(attempts)]
          send({"sequence": frame["sequence"], "value": {"scalars": values}})
      """)
    let (_, heard) = try run(try program.pipeline(frames: 1))
    #expect(heard.values == [1, 1, 1, 1, 1])
  }

  @Test func `the environment makes Python deterministic`() {
    let plain = ForeignProcess.environment(["PATH": "/bin"])
    #expect(
      plain == [
        "PATH": "/bin", "RETAKE_PROTOCOL": "1", "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1",
      ])
    let own = ForeignProcess.environment([
      "PYTHONHASHSEED": "5", "OMP_NUM_THREADS": "4", "RETAKE_TRANSPORT": "stdio",
      "RETAKE_CACHE_KEY": "secret",
    ])
    #expect(own["PYTHONHASHSEED"] == "5" && own["OMP_NUM_THREADS"] == "4")
    #expect(own["RETAKE_TRANSPORT"] == nil && own["RETAKE_CACHE_KEY"] == nil)
  }

  @Test func `a program that waits for a processor is not late for that`() throws {
    let socket = try ChildSocket()
    let channel = MessageChannel(socket)
    var starved: [Int64] = [1_000_000_000, 0]
    channel.starvedNanoseconds = { starved.removeFirst() }
    #expect(throws: ForeignFailure.late(seconds: 0.01)) {
      try channel.receive(before: channel.deadline(seconds: 0.01))
    }
    #expect(starved.isEmpty, "the first answer gives it another second")
  }

  @Test func `the fingerprint covers the program, its file and what it says`() throws {
    let program = try PythonProgram("ready(fingerprint='a')\nfor frame in frames(): pass")
    func stage() throws -> AnyStage {
      try AnyStage.process(
        ForeignProgram(command: program.command, output: .scalars), options: .object([:]))
    }
    let first = try stage().fingerprint
    let again = try stage().fingerprint
    #expect(again == first)
    #expect(first.contains(program.path) && first.contains(#""program":"a""#))
    let text = try String(contentsOf: URL(filePath: program.path), encoding: .utf8)
    try program.folder.write(text + "# another\n", to: "program.py")
    #expect(try stage().fingerprint != first)
  }

  @Test func `a pipeline that is released ends its programs, and a copy is shared`() throws {
    let program = try PythonProgram(Self.sums)
    do {
      let one = try program.pipeline()
      let other = try program.pipeline()
      #expect(try run(one).heard.values == run(other).heard.values)
    }
    #expect(program.started.count == 1)
    for id in program.started { #expect(isGone(process: id)) }
  }
}
