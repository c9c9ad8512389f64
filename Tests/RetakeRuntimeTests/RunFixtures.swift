import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime

/// Small gray frames at given times, created on demand.
struct TinyFrames: FrameReader {
  var track = 0
  var times: [Int64]
  var arrivals: [Int64]?
  var damaged: [Int: String] = [:]
  var shed: Set<Int> = []
  /// From this sequence on, frames are RGB24.
  var colorFrom: Int?
  var events: [TimedDeviceEvent] = []

  /// Frames at `i / rate` seconds.
  static func at(rate: Int32, count: Int) -> TinyFrames {
    TinyFrames(
      times: (0..<Int64(count)).compactMap {
        Timestamp(pts: $0, timeBase: TimeBase(1, rate))?.nanoseconds
      })
  }

  /// A frame for each `f` in a timeline, one character per millisecond.
  static func on(_ timeline: String) -> TinyFrames {
    TinyFrames(
      times: timeline.enumerated().filter { $0.element == "f" }
        .map { Int64($0.offset) * 1_000_000 })
  }

  var tracks: [TrackDescription] {
    [
      TrackDescription(
        track: track, timeBase: TimeBase(1, 1_000), format: .gray, width: 4, height: 2,
        frameCount: times.count)
    ]
  }

  func entries(of track: Int, sequences: Range<Int>) throws -> [FrameEntry] {
    sequences.clamped(to: times.indices).map { sequence in
      FrameEntry(
        id: FrameID(track: track, sequence: sequence), pts: Int64(sequence),
        timestamp: Timestamp(nanoseconds: times[sequence]),
        arrival: arrivals.map { Timestamp(nanoseconds: $0[sequence]) },
        damage: damaged[sequence], isPayloadMissing: shed.contains(sequence))
    }
  }

  func chain(of id: FrameID) -> Int { 0 }

  func deviceEvents() throws -> [TimedDeviceEvent] { events }

  func frame(_ id: FrameID) throws -> Frame {
    if let colorFrom, id.sequence >= colorFrom {
      return Frame(
        id: id, format: .rgb, width: 4, height: 2, planes: [[UInt8](repeating: 9, count: 24)])
    }
    return Frame(
      id: id, format: .gray, width: 4, height: 2,
      planes: [(0..<8).map { UInt8(truncatingIfNeeded: id.sequence &* 7 &+ track &* 91 &+ $0) }])
  }
}

/// Adds up the samples of a frame.
struct Brightness: PureStage {
  static let kind = "brightness"

  init() {}
  init(options: NoOptions) {}

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    Scalars([.init("sum", Double(frame.bytes(of: 0).reduce(0) { $0 + Int($1) }))])
  }
}

/// Counts the frames that it receives.
struct Counter: StatefulStage {
  static let kind = "counter"
  private var count = 0

  init() {}
  init(options: NoOptions) {}

  mutating func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    count += 1
    return Scalars(input.entries + [.init("count", Double(count))])
  }

  mutating func reset() { count = 0 }
}

/// Fails on chosen frames.
struct Fragile: PureStage {
  static let kind = "fragile"
  struct Options: StageOptions {
    var failing: [Int] = []
    var severity = "recoverable"
  }
  let options: Options

  init(failing: [Int], severity: StageError.Severity = .recoverable) {
    options = Options(failing: failing, severity: severity.rawValue)
  }

  init(options: Options) { self.options = options }

  func process(_ input: Scalars, _ context: StageContext) throws -> Scalars {
    guard options.failing.contains(context.frame.sequence) else { return input }
    throw StageError(
      code: "fragile.chosen", message: "a chosen frame",
      severity: StageError.Severity(rawValue: options.severity) ?? .recoverable)
  }
}

enum Nodes {
  static func sink() -> AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: "results", version: 1, role: .sink, input: nil, output: nil),
      options: .object([:]), body: .sink { _ in })
  }

  static func screen(_ millihertz: Int) -> AnyStage {
    var stage = AnyStage(
      signature: StageSignature(
        kind: AnyStage.screenKind, version: 1, role: .sink, input: nil, output: nil),
      options: .object([:]), body: .sink { _ in })
    stage.screen = ScreenClock(hertz: Double(millihertz) / 1_000)
    return stage
  }

  static func source(_ reader: TinyFrames) -> AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: "tiny", version: 1, role: .source, input: nil, output: .frame),
      options: .object([:]), body: .source(TinySource(reader: reader)))
  }

  static func throttle(_ rate: Double, rules: [DeviceRule] = []) -> AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: "throttle", version: 1, role: .throttle, input: nil, output: nil),
      options: .object(["fps": .number(rate)]),
      body: .throttle(DevicePolicy(fps: rate, rules: rules)))
  }
}

struct TinySource: FrameSource {
  var reader: TinyFrames
  func open() throws -> any FrameReader { reader }
}

/// Keeps everything that it receives.
final class Notes: RunObserver {
  var lines: [DecisionLine] = []
  var frames: [FinishedFrame] = []
  var nodes: [RunNode] = []
  var failures: [StageFailure] = []
  /// Times and sizes of adaptive pools.
  var sizes: [String] = []
  var wantsDecisions: Bool { true }
  var wantsDigests: Bool { true }

  func began(nodes: [RunNode]) { self.nodes = nodes }
  func decided(_ line: DecisionLine) { lines.append(line) }
  func resized(_ buffers: Int, of pool: String, at nanoseconds: Int64) {
    sizes.append("\(nanoseconds) \(buffers)")
  }
  func failed(_ failure: StageFailure) { failures.append(failure) }
  func finished(_ frame: FinishedFrame) { frames.append(frame) }

  /// The sequences of the frames that a kind of decision names.
  func sequences(_ kind: String) -> [Int] {
    lines.filter { $0.kind.rawValue == kind }.compactMap { $0.frame?.sequence }
  }

  /// A character for each frame's fate: `.` delivered, `d` dropped, `t` throttled, `s` replaced,
  /// `x` failed, `-` in flight.
  var fates: String {
    String(
      frames.map { frame in
        switch frame.result.outcomes[0].content {
        case .facts: "."
        case .ended(let fate, _):
          switch fate {
          case .delivered: "."
          case .dropped: "d"
          case .throttled: "t"
          case .replaced: "s"
          case .failed: "x"
          case .inFlight: "-"
          }
        }
      })
  }
}

extension Pipeline {
  /// Runs and records notes.
  func noted(
    _ options: RunOptions = RunOptions(mode: .simulate)
  ) throws -> (notes: Notes, outcome: RunOutcome) {
    let notes = Notes()
    let outcome = try PreparedRun(self, catalog: StageRegistry()).run(options, observer: notes)
    return (notes, outcome)
  }
}
