import Foundation
import Retake
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeProcess
import RetakeReplay
import RetakeRuntime
import RetakeSession
import RetakeStages
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// Examples/Program, a program in Python with a debounce of 50 ms and a throttle of 15 a second,
/// and the same in Swift, with a scheduler that shares no code with Retake's.
@Suite(.enabled(if: ChildProcess.path(of: "python3") != nil, SkipReason.noPython), .oneAtATime)
struct ProgramTwinTests {
  private static func program(_ options: [String: JSONValue] = [:]) throws -> Pipeline {
    var project = Project(folder: packageRoot.path)
    project.registry = .builtIn
    project.programs = .all
    var program = try ProgramPipeline(
      command: "env 'PYTHONPATH=\(project.path("Python"))' python3 -B "
        + "'\(project.path("Examples/Program/watch.py"))'")
    program.options.merge(options) { $1 }
    return try project.pipeline(program.name)
  }

  private func session(_ name: String) throws -> SessionReader {
    try SessionReader(opening: packageRoot.appending(path: "Recordings/\(name)").path)
  }

  private func run(
    _ pipeline: Pipeline, on name: String, workers: Int = 2
  ) throws -> (lines: [String], summary: RunSummary) {
    let listener = Lines()
    let replay = try Replay(
      pipeline, reader: try session(name), catalog: StageRegistry.builtIn,
      request: Replay.Request(
        sessionName: name, caseName: "watch", options: RunOptions(workers: workers)))
    let summary = try replay.run(observers: [listener])
    return (listener.lines, summary)
  }

  @Test(arguments: ["cut", "figures"])
  func `a program with timers and its twin in Swift have the same lines`(name: String) throws {
    let means = Locked<[(sequence: Int, nanoseconds: Int64, mean: Double)]>([])
    let measured = Pipeline.named("means").source(.session()).stage(MeanLevel())
      .deliverySink("means") { delivery in
        guard case .value(let value as Scalars) = delivery.content else { return }
        means.withLock {
          $0.append((delivery.frame.sequence, delivery.timestamp.nanoseconds, value["mean"] ?? 0))
        }
      }
    _ = try run(measured, on: name)
    var twin = WatchTwin()
    for frame in means.withLock({ $0 }) {
      twin.frame(frame.sequence, at: frame.nanoseconds, mean: frame.mean)
    }
    twin.end()
    let lines = try run(try Self.program(), on: name).lines
    #expect(lines == twin.lines)
    // Frames that do not come at the times of timers, and both sinks.
    #expect(lines.count > 100 && lines.contains { $0.contains(" settled ") })
  }

  @Test func `decisions and results are the same for any number of workers and transport`() throws {
    let pipeline = try Self.program()
    let first = try run(pipeline, on: "cut", workers: 0)
    for workers in [1, 2, 4, 8] {
      let again = try run(pipeline, on: "cut", workers: workers)
      #expect(again.summary.resultDigest == first.summary.resultDigest)
      #expect(again.summary.decisionDigest == first.summary.decisionDigest)
    }
    let streams = try run(try Self.program(["transport": .string("stdio")]), on: "cut")
    #expect(streams.lines == first.lines)
    #expect(streams.summary.resultDigest == first.summary.resultDigest)
  }
}

/// The mean of all pixels, as Python computes it.
private struct MeanLevel: PureStage {
  static let kind = "mean-level"
  static let inputFormats: [PixelFormat] = [.gray]

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    Scalars([.init("mean", Double(frame.bytes(of: 0).sum) / Double(frame.width * frame.height))])
  }
}

/// `12 light mean=114.25 ms=400.0`: the numbers of each frame at each sink; empty outcomes are left
/// out.
private final class Lines: RunObserver {
  private(set) var lines: [String] = []

  func finished(_ frame: FinishedFrame) {
    for outcome in frame.result.outcomes {
      guard case .facts(let facts) = outcome.content, !facts.isEmpty else { continue }
      let numbers = facts.map { fact in
        if case .scalar(let name, let value) = fact { "\(name)=\(value)" } else { "?" }
      }
      lines.append("\(frame.result.id.sequence) \(outcome.sink) \(numbers.joined(separator: " "))")
    }
  }
}

/// The work of `watch.py`, in Swift.
private struct WatchTwin {
  private struct Timer {
    var nanoseconds: Int64
    var order: Int
    var isQuiet: Bool
    var mean: Double
  }

  private(set) var lines: [String] = []
  private var timers: [Timer] = []
  private var order = 0
  private var now: Int64 = 0
  private var sequence = 0
  private var last: Double?
  private var newest: Double?
  private var isWaiting = false
  /// Of the last frame, by sink.
  private var outs: [String: [(mean: Double, nanoseconds: Int64)]] = [:]

  mutating func frame(_ sequence: Int, at nanoseconds: Int64, mean: Double) {
    run(upTo: nanoseconds)
    flush()
    (self.sequence, now) = (sequence, nanoseconds)
    newest = mean
    if !isWaiting { show() }
    if let last, abs(mean - last) > 0.05 {
      timers.removeAll(where: \.isQuiet)
      set(at: now + 50_000_000, isQuiet: true, mean)
    }
    last = mean
  }

  /// The timers that are set at the end are due; timers that these set are not.
  mutating func end() {
    let mark = order
    while let due = next(where: { $0.order <= mark }) { call(due) }
    flush()
  }

  private mutating func run(upTo nanoseconds: Int64) {
    while let due = next(where: { $0.nanoseconds <= nanoseconds }) { call(due) }
  }

  private mutating func next(where isDue: (Timer) -> Bool) -> Timer? {
    func key(_ index: Int) -> (Int64, Int) { (timers[index].nanoseconds, timers[index].order) }
    let first = timers.indices.filter { isDue(timers[$0]) }.min { key($0) < key($1) }
    return first.map { timers.remove(at: $0) }
  }

  private mutating func call(_ timer: Timer) {
    now = timer.nanoseconds
    if timer.isQuiet { out("settled", timer.mean) } else { show() }
  }

  private mutating func show() {
    isWaiting = newest != nil
    guard let mean = newest else { return }
    out("light", mean)
    newest = nil
    set(at: now + 66_666_667, isQuiet: false, 0)
  }

  private mutating func set(at nanoseconds: Int64, isQuiet: Bool, _ mean: Double) {
    order += 1
    timers.append(Timer(nanoseconds: nanoseconds, order: order, isQuiet: isQuiet, mean: mean))
  }

  private mutating func out(_ sink: String, _ mean: Double) {
    outs[sink, default: []].append((mean, now))
  }

  private mutating func flush() {
    for sink in outs.keys.sorted() {
      let numbers = (outs[sink] ?? []).enumerated().map { index, out in
        let suffix = index == 0 ? "" : "#\(index + 1)"
        return "mean\(suffix)=\(out.mean) ms\(suffix)=\(Double(out.nanoseconds) / 1e6)"
      }
      lines.append("\(sequence) \(sink) \(numbers.joined(separator: " "))")
    }
    outs = [:]
  }
}
