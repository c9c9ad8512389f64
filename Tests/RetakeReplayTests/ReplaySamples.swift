import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeTestSupport

/// Frames whose luminance is their track number times 50 plus their own number.
struct StepFrames: FrameReader {
  var numbers = [0]
  var count = 12

  var tracks: [TrackDescription] {
    numbers.map {
      TrackDescription(
        track: $0, timeBase: TimeBase(1, 30), format: .gray, width: 16, height: 8,
        frameCount: count)
    }
  }

  func entries(of track: Int, sequences: Range<Int>) throws -> [FrameEntry] {
    sequences.clamped(to: 0..<count).compactMap { sequence in
      Timestamp(pts: Int64(sequence), timeBase: TimeBase(1, 30)).map {
        FrameEntry(
          id: FrameID(track: track, sequence: sequence), pts: Int64(sequence), timestamp: $0)
      }
    }
  }

  func chain(of id: FrameID) -> Int { id.track }

  func frame(_ id: FrameID) throws -> Frame {
    Frame(
      id: id, format: .gray, width: 16, height: 8,
      planes: [[UInt8](repeating: UInt8(id.track * 50 + id.sequence), count: 128)])
  }
}

/// Keeps the results of the sinks, and the decisions.
final class Notes: RunObserver {
  private(set) var results: [FrameResult] = []
  private(set) var lines: [DecisionLine] = []

  var wantsDecisions: Bool { true }

  func decided(_ line: DecisionLine) { lines.append(line) }
  func finished(_ frame: FinishedFrame) { results.append(frame.result) }
}

/// The mean level of a gray frame, and its increase since the previous frame.
struct Growth: StatefulStage {
  static let kind = "growth"
  private var last: Double?

  init() {}
  init(options: NoOptions) {}

  mutating func process(_ input: Frame, _ context: StageContext) -> Scalars {
    let bytes = input.bytes(of: 0)
    let mean = Double(bytes.sum) / Double(bytes.count)
    defer { last = mean }
    return Scalars([.init("mean", mean), .init("growth", mean - (last ?? mean))])
  }

  mutating func reset() { last = nil }
}

/// Has a result without numbers for each frame.
struct Silent: PureStage {
  static let kind = "silent"

  init() {}
  init(options: NoOptions) {}

  func process(_ input: Frame, _ context: StageContext) -> Scalars { Scalars([]) }
}

extension AnyStage {
  static func session(track: Int = 0) -> AnyStage {
    source(sessionKind, .object(["track": .integer(Int64(track))]), SessionSource(track: track))
  }

  static func frames(_ reader: StepFrames) -> AnyStage {
    source("steps", .object([:]), StepSource(reader: reader))
  }

  private static func source(
    _ kind: String, _ options: JSONValue, _ body: any Sendable
  ) -> AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: kind, version: 1, role: .source, input: nil, output: .frame),
      options: options, body: .source(body))
  }

  static let numbers = AnyStage(
    signature: StageSignature(
      kind: "results", version: 1, role: .sink, input: nil, output: nil),
    options: .object([:]), body: .sink { _ in })
}

private struct StepSource: FrameSource {
  var reader: StepFrames
  func open() throws -> any FrameReader { reader }
}

enum Samples {
  /// Reads a session.
  static func brightness(track: Int = 0) -> Pipeline {
    Pipeline.named("brightness").source(.session(track: track)).stage(Growth())
      .cost(.fixed(.milliseconds(45))).queue(capacity: 3, policy: .dropNewest)
      .sink(.numbers, id: "numbers")
  }

  /// Has its own frames.
  static func own(frames: Int = 12) -> Pipeline {
    Pipeline.named("own").source(.frames(StepFrames(count: frames))).stage(Growth())
      .cost(.fixed(.milliseconds(45))).queue(capacity: 3, policy: .dropNewest)
      .sink(.numbers, id: "numbers")
  }

  static func replay(
    _ pipeline: Pipeline = brightness(), reader: (any FrameReader)? = StepFrames(),
    change: (inout Replay.Request) -> Void = { _ in }
  ) throws -> Replay {
    var request = Replay.Request(sessionName: "steps", caseName: "brightness")
    change(&request)
    return try Replay(pipeline, reader: reader, catalog: StageRegistry(), request: request)
  }
}
