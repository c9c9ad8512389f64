public import RetakeBuffers
public import RetakeCore
import RetakeGraph

/// Uses frames in memory as a source, for example in a test.
///
/// The frames keep their pixels and get new IDs and times: track 0, sequence from 0, one frame
/// interval apart or at the given presentation times.
public struct StaticSource: FrameSource, FrameReader {
  /// One track with number 0, described by the first frame.
  public let tracks: [TrackDescription]
  private let frames: [Frame]
  private let index: TrackIndex

  /// Frames at an even rate.
  ///
  /// - Throws: `OptionError` for an empty list, or a rate outside 0.001 to 1,000.
  public init(_ frames: [Frame], fps: Double = 30) throws {
    try self.init(
      frames, pts: frames.indices.map { Int64($0) }, timeBase: FrameRateText.timeBase(fps))
  }

  /// Frames at explicit presentation times.
  ///
  /// - Throws: `OptionError` for an empty list, a different number of times, or times that
  ///   decrease.
  public init(_ frames: [Frame], pts: [Int64], timeBase: TimeBase) throws {
    guard let first = frames.first else {
      throw OptionError(key: "frames", message: "must have at least one frame")
    }
    // Equal times are allowed, because a recording may have them, too.
    guard pts.count == frames.count, zip(pts, pts.dropFirst()).allSatisfy(<=) else {
      throw OptionError(key: "pts", message: "must have one time a frame, in rising order")
    }
    let index = TrackIndex(pts: pts, timeBase: timeBase)
    self.index = index
    self.frames = zip(frames, index.rows).map { frame, row in
      var frame = frame
      frame.id = row.id
      frame.timestamp = row.timestamp
      return frame
    }
    tracks = [TrackDescription(of: first, timeBase: timeBase, frameCount: frames.count)]
  }

  /// The source itself, because its frames are in memory.
  public func open() -> any FrameReader { self }

  /// The rows of track 0 for a range of sequences; sequences that do not exist are left out.
  public func entries(of track: Int, sequences: Range<Int>) -> [FrameEntry] {
    index.entries(of: track, sequences: sequences)
  }

  /// Each frame is a separate chain, so several frames may be read at the same time.
  public func chain(of id: FrameID) -> Int { id.sequence }

  /// - Throws: `StagesError.noSuchFrame`.
  public func frame(_ id: FrameID) throws -> Frame { frames[try index.row(id).id.sequence] }
}

extension TrackDescription {
  /// A track with number 0 whose frames have the properties of this one.
  init(of frame: Frame, timeBase: TimeBase, frameCount: Int) {
    self.init(
      track: 0, timeBase: timeBase, format: frame.format, width: frame.width,
      height: frame.height, range: frame.range, matrix: frame.matrix,
      rotationDegrees: frame.rotationDegrees, sampleAspect: frame.sampleAspect,
      frameCount: frameCount)
    isMirrored = frame.isMirrored
  }
}
