import Foundation
import RetakeCore
import RetakeGraph
import RetakeRuntime

/// One pool under a load of text, in a live run: a camera of 1920×1080 BGRA at 30 frames a second
/// leases from the pool, and a reader with two threads works for 25 to 50 ms on each frame. Then
/// comes a peak that two threads cannot follow, and then a camera that sees no text. The trial
/// measures the resident memory of this process.
///
/// Time runs faster than the wall clock, for the camera, the reader, the pool's windows and its
/// decisions alike. Memory does not depend on that: it follows the decisions, and they follow the
/// times. The camera writes one byte of each page, so that all pages of a frame are resident;
/// writing all bytes would only need a faster machine.
package struct MemoryTrial: Sendable {
  package var contender: PoolContender
  /// How much faster than the wall clock time runs, 1 to 20.
  package var speed: Int64

  package init(_ contender: PoolContender, speed: Int64) {
    (self.contender, self.speed) = (contender, speed)
  }

  private static let pool = "frames"
  private static let (width, height) = (1_920, 1_080)
  private static let pageBytes = 4_096
  /// More than the capacity of any pool, so that only the pool loses frames.
  private static let waitingMax = 64

  /// The two fixed pools, the adaptive one, and the adaptive one without a breaker, because on a
  /// machine that is late, more frames find no buffer.
  package static var contenders: [PoolContender] {
    PoolContender.standard.prefix(3) + [.steady]
  }

  /// A part of the load, in nanoseconds of the load's time.
  private struct Phase {
    var name: String
    var nanoseconds: Int64
    var cost: ClosedRange<Int64>
  }

  private static let phases = [
    Phase(name: "text", nanoseconds: 20_000_000_000, cost: 25_000_000...50_000_000),
    Phase(name: "peak", nanoseconds: 10_000_000_000, cost: 60_000_000...80_000_000),
    Phase(name: "idle", nanoseconds: 30_000_000_000, cost: 2_000_000...4_000_000),
  ]

  /// - Throws: `suite.bench.residentMemory`, `RuntimeError`, `PipelineError`.
  package func run(isInterrupted: () -> Bool = { false }) throws -> MemoryFigures {
    let clock = FastClock(speed: speed)
    let session = try LiveSession(
      pipeline(clock),
      tracks: [LiveTrack(format: .bgra, width: Self.width, height: Self.height)],
      catalog: StageRegistry(), options: LiveOptions(workers: 2), clock: clock, tap: nil,
      receive: { _ in })
    let before = try ResidentMemory.bytes()
    var figures = MemoryFigures(pool: contender.name, speed: Int(speed))
    var sequence: Int64 = 0
    let start = clock.monotonicNanoseconds
    var end: Int64 = 0
    for phase in Self.phases {
      end += phase.nanoseconds
      var part = MemoryFigures.Part(phase: phase.name)
      while Self.time(ofFrame: sequence) < end {
        if isInterrupted() { throw RuntimeError.interrupted }
        let due = Self.time(ofFrame: sequence)
        clock.wait(untilNanoseconds: start + due, or: ThreadCondition())
        push(sequence, at: due, to: session)
        sequence += 1
        part.add(max(0, try ResidentMemory.bytes() - before))
      }
      figures.parts.append(part)
    }
    let size = session.memory.pools[0].size
    let outcome = try session.finish()
    figures.finish(outcome, size: size)
    return figures
  }

  private static func time(ofFrame sequence: Int64) -> Int64 { sequence * 1_000_000_000 / 30 }

  private func push(_ sequence: Int64, at due: Int64, to session: LiveSession) {
    var frame = session.makeFrame(format: .bgra, width: Self.width, height: Self.height)
    frame.timestamp = Timestamp(nanoseconds: due)
    frame.withPlane(0) { bytes, _ in
      for page in stride(from: 0, to: bytes.count, by: Self.pageBytes) {
        bytes[page] = UInt8(truncatingIfNeeded: sequence)
      }
    }
    session.push(frame.finish())
  }

  private func pipeline(_ clock: FastClock) -> Pipeline {
    var camera = PipelineNode(id: "camera", stage: Self.pushed)
    camera.pool = Self.pool
    var reader = PipelineNode(id: "ocr", stage: Self.reading(clock))
    reader.concurrency = 2
    return Pipeline(
      name: "memory", nodes: [camera, reader, PipelineNode(id: "text", stage: Self.sink)],
      edges: [
        PipelineEdge(from: "camera", to: "ocr", capacity: Self.waitingMax),
        PipelineEdge(from: "ocr", to: "text"),
      ],
      pools: [
        PipelinePool(
          id: Self.pool, capacity: contender.capacity, adaptive: contender.adaptive)
      ])
  }

  private static var pushed: AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: AnyStage.sessionKind, version: 1, role: .source, input: nil, output: .frame),
      options: .object(["track": .integer(0)]), body: .source(SessionSource(track: 0)))
  }

  /// Waits as long as the text recognition of the frame would run.
  private static func reading(_ clock: FastClock) -> AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: "ocr", version: 1, role: .pure, input: .frame, output: .scalars),
      options: .object([:]),
      body: .pure { _, context in
        clock.wait(nanoseconds: cost(ofFrame: Int64(context.frame.sequence)), or: ThreadCondition())
        return .success(Scalars([]))
      })
  }

  private static func cost(ofFrame sequence: Int64) -> Int64 {
    var rest = time(ofFrame: sequence)
    var range = phases[0].cost
    for phase in phases {
      range = phase.cost
      if rest < phase.nanoseconds { break }
      rest -= phase.nanoseconds
    }
    // Evenly over the range, from the frame's number alone.
    let steps = (sequence &* 0x9E37) % 1_000
    return range.lowerBound + (range.upperBound - range.lowerBound) * steps / 1_000
  }

  private static var sink: AnyStage {
    AnyStage(
      signature: StageSignature(kind: "text", version: 1, role: .sink, input: nil, output: nil),
      options: .object([:]), body: .sink { _ in })
  }
}

/// The wall clock, but faster.
private struct FastClock: LiveClock {
  private let wall = WallClock()
  private let start: Int64
  private let speed: Int64

  init(speed: Int64) {
    self.speed = speed
    start = wall.monotonicNanoseconds
  }

  var monotonicNanoseconds: Int64 { (wall.monotonicNanoseconds - start) * speed }

  func anchor() -> WallAnchor {
    var anchor = wall.anchor()
    anchor.monotonicNanoseconds = monotonicNanoseconds
    return anchor
  }

  func wait(untilNanoseconds deadline: Int64, or condition: ThreadCondition) {
    // Rounded up, or a wait would end before its deadline.
    wall.wait(untilNanoseconds: start + (deadline + speed - 1) / speed, or: condition)
  }
}

/// The memory of this process that is in the machine's memory.
package enum ResidentMemory {
  /// - Throws: `suite.bench.residentMemory` where the system has no `/proc`.
  package static func bytes() throws -> Int {
    // Source: proc_pid_statm(5). The second number is the resident pages.
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
      let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else {
      throw BenchError(
        "suite.bench.residentMemory",
        "there is no /proc/self/statm, which has the memory of a process",
        advice: "Run 'retake bench memory' on Linux")
    }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}
