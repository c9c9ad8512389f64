import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime

/// Any number of frames, all with the same few pixels.
struct RepeatedFrame: FrameReader {
  var count: Int
  /// Nanoseconds between frames.
  var interval: Int64 = 33_333_333
  private let frame: Frame

  init(
    count: Int,
    _ frame: Frame = Frame(format: .gray, width: 4, height: 2, planes: [[0, 1, 2, 3, 4, 5, 6, 7]])
  ) {
    self.count = count
    self.frame = frame
  }

  var tracks: [TrackDescription] {
    [
      TrackDescription(
        track: 0, timeBase: TimeBase(1, 1_000_000_000), format: frame.format, width: frame.width,
        height: frame.height, frameCount: count)
    ]
  }

  func entries(of track: Int, sequences: Range<Int>) -> [FrameEntry] {
    sequences.clamped(to: 0..<count).map { sequence in
      FrameEntry(
        id: FrameID(track: 0, sequence: sequence), pts: Int64(sequence) * interval,
        timestamp: Timestamp(nanoseconds: Int64(sequence) * interval))
    }
  }

  /// Every frame can be read at any time.
  func chain(of id: FrameID) -> Int { id.sequence }

  func frame(_ id: FrameID) -> Frame {
    Frame(
      id: id, format: frame.format, width: frame.width, height: frame.height,
      storage: frame.storage)
  }
}

/// Returns its input.
struct Pass: PureStage {
  static let kind = "pass"

  init() {}
  init(options: NoOptions) {}

  func process(_ input: Frame, _ context: StageContext) -> Frame { input }
}

/// Returns a number that depends on the work for a frame, given by its sequence.
struct Detect: PureStage {
  static let kind = "detect"
  let work: @Sendable (Int) -> UInt64

  init(_ work: @escaping @Sendable (Int) -> UInt64) { self.work = work }

  /// Keeps a processor busy.
  init(rounds: Int) {
    self.init { Spin.run(rounds: rounds, seed: UInt64($0)) }
  }

  init(options: NoOptions) { self.init(rounds: 0) }

  func process(_ input: Frame, _ context: StageContext) -> Spun {
    Spun(value: work(context.frame.sequence))
  }
}

/// Keeps a processor busy with the output of another stage.
struct Classify: PureStage {
  static let kind = "classify"
  let rounds: Int

  init(rounds: Int) { self.rounds = rounds }
  init(options: NoOptions) { rounds = 0 }

  func process(_ input: Spun, _ context: StageContext) -> Spun {
    Spun(value: Spin.run(rounds: rounds, seed: input.value))
  }
}

struct Spun: PipelineValue {
  static var valueKind: ValueKind { .user(name: "spun", version: 1) }

  var value: UInt64

  func digest(into hasher: inout DigestHasher) { hasher.append(Int64(bitPattern: value)) }
  var facts: [ResultFact] { [.user(kind: "spun", digest: Digest128(high: 0, low: value))] }
}

extension PipelineStart {
  func frames(_ reader: some FrameReader) -> PipelineChain<Frame> {
    source(
      AnyStage(
        signature: StageSignature(
          kind: "repeated", version: 1, role: .source, input: nil, output: .frame),
        options: .object([:]), body: .source(OpenSource(reader: reader))))
  }
}

private struct OpenSource: FrameSource {
  var reader: any FrameReader
  func open() -> any FrameReader { reader }
}

extension AnyStage {
  static let resultSink = AnyStage(
    signature: StageSignature(kind: "results", version: 1, role: .sink, input: nil, output: nil),
    options: .object([:]), body: .sink { _ in })
}

/// Adds up the spun values of all frames, in any order.
final class SpunObserver: RunObserver {
  private(set) var hash = UnorderedHash()

  func finished(_ frame: FinishedFrame) {
    for outcome in frame.result.outcomes {
      guard case .facts(let facts) = outcome.content else { continue }
      for case .user(_, let digest) in facts { hash.add(digest.low) }
    }
  }
}

extension Pipeline {
  /// Runs without the watchdog's thread, and returns a digest of decisions and results.
  func run(_ options: RunOptions) throws -> (decisions: Digest128, values: UInt64) {
    let observer = SpunObserver()
    let outcome = try PreparedRun(self, catalog: StageRegistry()).run(options, observer: observer)
    return (outcome.decisionDigest, observer.hash.sum)
  }
}
