import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeTimePlane

// Whole replays of a pipeline whose stages lease the memory of their outputs, with 0 to 8 workers,
// delays before each computation, and memory that is poisoned. Each way of running must come to the
// same decisions and the same digests of all outputs.

let seconds = Double(CommandLine.arguments[1]) ?? 60
let count = 120

/// Frames of 64 x 48 samples that differ, each in memory of its own.
struct Footage: FrameSource, FrameReader {
  static let interval: Int64 = 33_333_333

  var tracks: [TrackDescription] {
    [
      TrackDescription(
        track: 0, timeBase: TimeBase(1, 1_000_000_000), format: .gray, width: 64, height: 48,
        frameCount: count)
    ]
  }

  func entries(of track: Int, sequences: Range<Int>) -> [FrameEntry] {
    sequences.clamped(to: 0..<count).map { sequence in
      let time = Int64(sequence) * Self.interval
      return FrameEntry(
        id: FrameID(track: 0, sequence: sequence), pts: time,
        timestamp: Timestamp(nanoseconds: time))
    }
  }

  func open() -> any FrameReader { self }

  func chain(of id: FrameID) -> Int { id.sequence }

  func frame(_ id: FrameID) -> Frame {
    let pixels = (0..<64 * 48).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ id.sequence &* 13) }
    return Frame(id: id, format: .gray, width: 64, height: 48, planes: [pixels])
  }
}

/// Adds a constant to each sample, in memory of its node's pool.
struct Shifted: PureStage {
  static let kind = "shifted"
  init() {}

  func process(_ frame: Frame, _ context: StageContext) -> Frame {
    var output = context.makeFrame(like: frame)
    output.copyPixels(of: frame)
    output.forEachRow(of: 0) { _, bytes in
      for x in bytes.indices { bytes[x] &+= 3 }
    }
    return output.finish()
  }
}

/// The mean of each sample and the sample of the frame before, which it holds.
struct Blended: StatefulStage {
  static let kind = "blended"
  private var last: Frame?
  init() {}

  mutating func process(_ frame: Frame, _ context: StageContext) -> Frame {
    var output = context.makeFrame(like: frame)
    let before = (last ?? frame).bytes(of: 0)
    let now = frame.bytes(of: 0)
    output.forEachRow(of: 0) { row, bytes in
      for x in bytes.indices {
        let at = row * frame.width + x
        bytes[x] = UInt8((Int(before[at]) + Int(now[at])) / 2)
      }
    }
    last = frame
    return output.finish()
  }

  mutating func reset() { last = nil }
}

final class Digester: RunObserver {
  private(set) var hasher = DigestHasher()
  private(set) var frames = 0

  var wantsDigests: Bool { true }

  func finished(_ frame: FinishedFrame) {
    frames += 1
    hasher.append("\(frame.entry.id) \(frame.result) \(frame.digests)")
  }
}

func leaf(_ kind: String, _ role: StageRole, _ body: AnyStage.Body) -> AnyStage {
  AnyStage(
    signature: StageSignature(
      kind: kind, version: 1, role: role, input: role == .source ? nil : .frame,
      output: role == .sink ? nil : .frame),
    options: .object([:]), body: body)
}

let pipeline = Pipeline.named("race").source(leaf("footage", .source, .source(Footage())))
  .stage(Shifted()).cost(.fixed(.milliseconds(12)))
  .stage(Blended()).cost(.fixed(.milliseconds(45))).queue(capacity: 2, policy: .dropOldest)
  .stage(Shifted()).cost(.fixed(.milliseconds(20))).pool("frames").pool("frames", capacity: 6)
  .stage(Shifted())
  .sink(leaf("results", .sink, .sink { _ in }))
let run = try PreparedRun(pipeline, catalog: StageRegistry())

func play(_ options: RunOptions) throws -> String {
  let digester = Digester()
  let outcome = try run.run(options, observer: digester)
  guard digester.frames == count else { fatalError("\(digester.frames) frames of \(count)") }
  return "\(outcome.decisionDigest) \(digester.hasher.finish()) \(outcome.headline.delivered)"
}

let end = Date().addingTimeInterval(seconds)
var expected: [RunOptions.Mode: String] = [:]
var runs = 0
var round: UInt64 = 0
while Date() < end || round == 0 {
  round += 1
  for mode in RunOptions.Mode.virtual {
    for workers in [0, 1, 2, 4, 8] {
      for isPoisoned in [false, true] {
        var options = RunOptions(mode: mode, workers: workers, seed: 7, perturbation: round)
        options.poisonsMemory = isPoisoned
        let found = try play(options)
        runs += 1
        let first = expected[mode, default: found]
        expected[mode] = first
        guard found == first else {
          print("\(mode), \(workers) workers, poisoned \(isPoisoned): \(found), not \(first)")
          exit(1)
        }
      }
    }
  }
}
for mode in RunOptions.Mode.virtual { print("\(mode): \(expected[mode] ?? "")") }
print("\(runs) replays, one digest of each mode")
