import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeProcess
import RetakeRuntime
import RetakeStages
import RetakeTestSupport

/// Stages that a program in Python computes: the time for one frame, the speed of a replay with a
/// program that only answers, and a busy program on two processors compared with two plain loops of
/// its body.
struct ProgramSection {
  let scale: Scale

  func run() throws -> SectionReport {
    let frames = scale.count(400, tiny: 4)
    var report = SectionReport(
      name: "programs",
      title: "Stages in Python: four boxes a frame in RGB24; a replay of 640x480 with a stage that "
        + "does nothing; 2 copies of a stage of 2 ms against 2 loops, \(frames) frames",
      hash: Digest128(of: "nothing").description)
    guard ChildProcess.path(of: "python3") != nil else {
      report.notes = ["programs: python3 is not here"]
      return report
    }
    let folder = try TemporaryFolder("retake-bench-programs")
    let programs = try BenchmarkPrograms(in: folder)
    let (small, large) = (
      try trip(programs, .made, width: 640, height: 480),
      try trip(programs, .made, width: 1920, height: 1080)
    )
    let (smallCopy, largeCopy) = (
      try trip(programs, .copied, width: 640, height: 480),
      try trip(programs, .copied, width: 1920, height: 1080)
    )
    let rate = try replay(programs, in: folder)
    let busy = try contest(programs, frames)
    let hashes = [small.hash, large.hash, smallCopy.hash, largeCopy.hash, rate.hash, busy.hash]
    report.hash = Digest128(of: hashes.joined(separator: " ")).description
    report.figures = [
      Figure(name: "programs.vga.p50", value: small.microseconds(50), unit: "µs"),
      Figure(name: "programs.vga.p99", value: small.microseconds(99), unit: "µs"),
      Figure(name: "programs.hd.p50", value: large.microseconds(50), unit: "µs"),
      Figure(name: "programs.hd.p99", value: large.microseconds(99), unit: "µs"),
      Figure(name: "programs.vga.copied.p50", value: smallCopy.microseconds(50), unit: "µs"),
      Figure(name: "programs.hd.copied.p50", value: largeCopy.microseconds(50), unit: "µs"),
      Figure(name: "programs.empty", value: rate.perSecond, unit: "frames/s"),
      Figure(name: "programs.busy", value: busy.retake, unit: "frames/s"),
      Figure(name: "programs.loops", value: busy.loops, unit: "frames/s"),
      Figure(name: "programs.ratio", value: busy.retake / busy.loops, unit: "times"),
    ]
    return report
  }

  // MARK: One frame

  /// The times of frames that were given one after another, sorted; of the best round.
  private struct Trip {
    var nanoseconds: [Int64]
    var hash: String

    func microseconds(_ percent: Int) -> Double {
      Double(nanoseconds[nanoseconds.count * percent / 100]) / 1e3
    }
  }

  /// Where the frames are.
  private enum Place {
    /// In the shared memory, like frames that a run decodes.
    case made
    /// Outside of it, because they were made before the program started.
    case copied
  }

  private static func frames(width: Int, height: Int) -> [Frame] {
    let size = width * height * 3
    return (0..<4).map { number in
      Frame(
        format: .rgb, width: width, height: height,
        planes: [[UInt8](repeating: UInt8(number * 60), count: size)])
    }
  }

  private func trip(
    _ programs: BenchmarkPrograms, _ place: Place, width: Int, height: Int
  ) throws -> Trip {
    let early = place == .copied ? Self.frames(width: width, height: height) : []
    let pipeline = try Pipeline.named("trip")
      .frames(RepeatedFrame(count: 1)).process(programs.command("boxes"), output: .detections)
      .results("boxes")
    guard case .pure(let call)? = pipeline.nodes.first(where: { $0.kind == "process" })?.stage.body
    else { throw Program.Failed(description: "a function in Python is a pure stage") }
    let frames = place == .copied ? early : Self.frames(width: width, height: height)
    var best: Trip?
    for _ in 0..<scale.rounds {
      let round = try Self.trip(scale.count(1_000, tiny: 5), frames, call)
      if let best, best.hash != round.hash { return Trip(nanoseconds: [0], hash: "unsteady") }
      if best.map({ round.microseconds(50) < $0.microseconds(50) }) ?? true { best = round }
    }
    return best ?? Trip(nanoseconds: [0], hash: "nothing")
  }

  private static func trip(
    _ count: Int, _ frames: [Frame],
    _ call: (any PipelineValue, StageContext) -> StageOutcome
  ) throws -> Trip {
    let clock = WallClock()
    var times: [Int64] = []
    times.reserveCapacity(count)
    var hash = UnorderedHash()
    for sequence in 0..<count {
      let context = StageContext(
        frame: FrameID(track: 0, sequence: sequence), timestamp: .zero)
      let start = clock.monotonicNanoseconds
      let outcome = call(frames[sequence % frames.count], context)
      times.append(clock.monotonicNanoseconds - start)
      hash.add(try outcome.get().digest.low)
    }
    return Trip(nanoseconds: times.sorted(), hash: "\(hash.sum)")
  }

  // MARK: A replay

  private func replay(
    _ programs: BenchmarkPrograms, in folder: TemporaryFolder
  ) throws -> (perSecond: Double, hash: String) {
    let count = scale.count(1_800, tiny: 12)
    let clip = folder.file("clip.mp4").path
    _ = try Program.ffmpeg([
      "-f", "lavfi", "-i", "testsrc2=size=640x480:rate=30,noise=alls=6:allf=t", "-frames:v",
      "\(count)", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "veryfast", "-g", "30", clip,
    ])
    _ = try Program.run(
      Program.retake, ["import", clip, "--name", "clip", "--into", folder.url.path])
    let document = try folder.write(programs.document("empty"), to: "empty.json").path
    let contest = try Contest(
      rounds: scale.isTiny ? 1 : 3,
      [
        {
          try Program.run(
            Program.retake,
            [
              "replay", folder.file("clip").path, "--pipeline", document, "--allow-processes",
              "--follow",
            ])
        }
      ])
    return (Double(count) / contest.bestSeconds[0], contest.hash)
  }

  // MARK: Two processors

  private func contest(
    _ programs: BenchmarkPrograms, _ frames: Int
  ) throws -> (retake: Double, loops: Double, hash: String) {
    let pipeline = try Pipeline.named("busy")
      .source(AnyStage(lateFrames: frames))
      .process(programs.command("busy"), output: .scalars, instances: 2).results("values")
    let run = try PreparedRun(pipeline, catalog: StageRegistry())
    let play = { () throws -> String in
      let sums = ScalarSum()
      _ = try run.run(RunOptions(workers: 2, watchdog: nil), observer: sums)
      return "\(sums.total)"
    }
    // The second copy starts when it is needed first.
    _ = try play()
    var (best, hash) = ((retake: Double.infinity, loops: Double.infinity), "")
    for _ in 0..<scale.rounds {
      let timing = try Timing(play)
      best.retake = min(best.retake, timing.seconds)
      let loops = try programs.loops(frames)
      best.loops = min(best.loops, loops.seconds)
      guard timing.hash == loops.sum else {
        return (0, 1, "unsteady: \(timing.hash), \(loops.sum)")
      }
      hash = timing.hash
    }
    return (Double(frames) / best.retake, Double(frames) / best.loops, hash)
  }
}

/// Adds up the numbers of all frames.
private final class ScalarSum: RunObserver {
  private(set) var total = 0

  func finished(_ frame: FinishedFrame) {
    for outcome in frame.result.outcomes {
      guard case .facts(let facts) = outcome.content else { continue }
      for case .scalar(_, let value) in facts { total += Int(value) }
    }
  }
}

extension AnyStage {
  /// A source of gray frames of 640x480, whose pixels are made when a run begins.
  fileprivate init(lateFrames count: Int) {
    self.init(
      signature: StageSignature(
        kind: "late", version: 1, role: .source, input: nil, output: .frame),
      options: .object([:]), body: .source(LateFrames(count: count)))
  }
}

private struct LateFrames: FrameSource {
  var count: Int

  func open() -> any FrameReader {
    let level = [UInt8](repeating: 7, count: 640 * 480)
    return RepeatedFrame(
      count: count, Frame(format: .gray, width: 640, height: 480, planes: [level]))
  }
}

/// The programs of the section, written for the package in this checkout.
private struct BenchmarkPrograms {
  private let folder: TemporaryFolder

  init(in folder: TemporaryFolder) throws {
    self.folder = folder
    try folder.write(Self.boxes, to: "boxes.py")
    try folder.write(Self.empty, to: "empty.py")
    try folder.write(Self.busy, to: "busy.py")
  }

  func command(_ name: String) -> [String] { ["python3", folder.file("\(name).py").path] }

  func document(_ name: String) -> String {
    """
    {"v": 1, "name": "\(name)",
     "nodes": [
      {"id": "camera", "kind": "session"},
      {"id": "\(name)", "kind": "process",
       "options": {"command": ["python3", "\(folder.file("\(name).py").path)"],
                   "output": "scalars"}},
      {"id": "values", "kind": "results"}],
     "edges": [{"from": "camera", "to": "\(name)"}, {"from": "\(name)", "to": "values"}]}
    """
  }

  /// Two processes that compute the body of `busy.py` for half of the frames each, without frames.
  func loops(_ count: Int) throws -> (seconds: Double, sum: String) {
    let results = Locked<[[Substring]?]>([nil, nil])
    let file = folder.file("busy.py").path
    DispatchQueue.concurrentPerform(iterations: 2) { part in
      let result = try? runCommand("python3", arguments: [file, "\(part)", "\(count)"])
      let words = result?.stdout.split(whereSeparator: \.isWhitespace)
      results.withLock { $0[part] = words }
    }
    let words = results.withLock { $0.compactMap(\.self) }
    let seconds = words.compactMap { $0.first.flatMap { Double($0) } }
    let sums = words.compactMap { $0.last.flatMap { Int($0) } }
    guard seconds.count == 2, sums.count == 2 else {
      throw Program.Failed(description: "one of two loops in Python failed")
    }
    return (max(seconds[0], seconds[1]), "\(sums[0] + sums[1])")
  }

  private static let package = """
    import sys, time
    sys.path.insert(0, \(JSONValue.quoted(packageRoot.appending(path: "Python").path)))
    import retake

    """

  private static let boxes =
    package + """
      @retake.stage(output="detections", formats=["RGB24"], class_names=["face"])
      def boxes(frame):
          level = int(frame.array[0, 0, 0])
          return [
              retake.Detection((level + place * 90.5, 20.25, 80.5, 90.75), 0.9, label="face")
              for place in range(4)
          ]

      retake.main(boxes)
      """

  private static let empty =
    package + """
      @retake.stage(output="scalars")
      def empty(frame):
          return {}

      retake.main(empty)
      """

  private static let busy =
    package + """
      def work(seed):
          state = seed
          for _ in range(20_000):
              state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff
          return state

      @retake.stage(output="scalars")
      def busy(frame):
          return {"state": work(frame.sequence)}

      if len(sys.argv) == 1:
          retake.main(busy)
      else:
          part, count = int(sys.argv[1]), int(sys.argv[2])
          start = time.perf_counter()
          total = sum(work(sequence) for sequence in range(part, count, 2))
          print(time.perf_counter() - start, total)
      """
}
