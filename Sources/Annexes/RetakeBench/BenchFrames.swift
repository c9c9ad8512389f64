import RetakeBuffers
import RetakeCore
import RetakeGraph

/// Frames of a camera at an even rate. Their pixels are never read.
struct BenchFrames: FrameSource, FrameReader {
  let fps: Int
  let count: Int

  static func time(ofFrame sequence: Int, fps: Int) -> Int64 {
    // From the start of the track, so that the rounding of single frames does not add up.
    Int64(sequence) * 1_000_000_000 / Int64(fps)
  }

  var stage: AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: "camera", version: 1, role: .source, input: nil, output: .frame),
      options: .object([:]), body: .source(self))
  }

  func open() throws -> any FrameReader { self }

  var tracks: [TrackDescription] {
    [
      TrackDescription(
        track: 0, timeBase: TimeBase(1, Int32(fps)), format: .gray, width: 1, height: 1,
        frameCount: count)
    ]
  }

  func entries(of track: Int, sequences: Range<Int>) throws -> [FrameEntry] {
    sequences.clamped(to: 0..<count).map { sequence in
      FrameEntry(
        id: FrameID(track: 0, sequence: sequence), pts: Int64(sequence),
        timestamp: Timestamp(nanoseconds: Self.time(ofFrame: sequence, fps: fps)))
    }
  }

  func chain(of id: FrameID) -> Int { 0 }

  func frame(_ id: FrameID) throws -> Frame {
    Frame(id: id, format: .gray, width: 1, height: 1, planes: [[0]])
  }
}
