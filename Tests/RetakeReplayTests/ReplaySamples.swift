import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeStages
import Synchronization

/// Frames whose luminance is their track's number times 50 plus their own number.
struct StepFrames: FrameReader {
  var numbers = [0]
  var count = 12

  var tracks: [TrackDescription] {
    numbers.map {
      TrackDescription(
        track: $0, timeBase: TimeBase(1, 30), format: .grey, width: 16, height: 8,
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
      id: id, format: .grey, width: 16, height: 8,
      planes: [[UInt8](repeating: UInt8(id.track * 50 + id.sequence), count: 128)])
  }
}

/// Keeps what the sinks were told.
final class Notes: RunObserver {
  private(set) var results: [FrameResult] = []
  private(set) var lines: [DecisionLine] = []

  var wantsDecisions: Bool { true }

  func decided(_ line: DecisionLine) { lines.append(line) }
  func finished(_ frame: FinishedFrame) { results.append(frame.result) }

  /// The value of a scalar, frame by frame.
  func scalars(_ name: String) -> [Double] {
    results.compactMap { result in
      for case .facts(let facts) in result.outcomes.map(\.content) {
        for case .scalar(let fact, let value) in facts where fact == name { return value }
      }
      return nil
    }
  }
}

enum Samples {
  /// Reads a session, gives the mean luminance.
  static let brightness = Pipeline.named("brightness").source(.session()).luminance()
    .results("numbers")

  /// Brings its own frames.
  static func own(frames: Int = 12) -> Pipeline {
    Pipeline.named("own").source(
      .synthetic(SyntheticOptions(scene: .figures, width: 96, height: 64, frames: frames))
    ).motion(options: MotionOptions(threshold: 24)).results()
  }

  static func replay(
    _ pipeline: Pipeline = brightness, reader: (any FrameReader)? = StepFrames(),
    change: (inout Replay.Request) -> Void = { _ in }
  ) throws -> Replay {
    var request = Replay.Request(sessionName: "steps", caseName: "brightness")
    change(&request)
    return try Replay(
      pipeline, reader: reader, catalog: StageRegistry.builtIn, request: request)
  }
}
