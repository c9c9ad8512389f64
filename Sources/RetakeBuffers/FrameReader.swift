import RetakeBuffers
import RetakeCore

/// One row of a frame index: everything that the time plane needs to know about a frame before its
/// pixels are read.
public struct FrameEntry: Hashable, Sendable {
  /// The frame's track and sequence, which identify it in a session.
  public var id: FrameID
  /// In the track's time base; `nil` if the source gave none.
  public var pts: Int64?
  /// Presentation time on the session's time line, not shifted.
  public var timestamp: Timestamp
  /// When the frame reached the recorder, on the same line; imported frames arrive at their pts.
  public var arrival: Timestamp
  /// A stable code when the frame fails, recoverably, at the source.
  public var damage: String?
  /// The index has the row, but the recorder dropped the pixels. Such a frame has no arrival event
  /// and is counted separately from the ledger.
  public var isPayloadMissing: Bool
  /// XXH3-128 of the packet that the frame came from.
  public var packetDigest: Digest128?

  /// Without an `arrival`, the frame arrives at its presentation time, as an imported frame does.
  public init(
    id: FrameID, pts: Int64?, timestamp: Timestamp, arrival: Timestamp? = nil,
    damage: String? = nil, isPayloadMissing: Bool = false, packetDigest: Digest128? = nil
  ) {
    self.id = id
    self.pts = pts
    self.timestamp = timestamp
    self.arrival = arrival ?? timestamp
    self.damage = damage
    self.isPayloadMissing = isPayloadMissing
    self.packetDigest = packetDigest
  }
}

/// What a reader knows about one track.
public struct TrackDescription: Hashable, Sendable {
  /// The number by which `entries(of:sequences:)` and `FrameID` name the track.
  public var track: Int
  /// The unit of `FrameEntry.pts`.
  public var timeBase: TimeBase
  /// The pixel format of the first frames. Stages that need another one get a `convert` before
  /// them; a later frame of a format that its stage does not take fails.
  public var format: PixelFormat
  /// Pixels.
  public var width: Int
  /// Pixels.
  public var height: Int
  /// The sample values of black and white; `limited` by default.
  public var range: ColorRange
  /// How luma and chroma were made of colours; `bt601` by default.
  public var matrix: ColorMatrix
  /// Degrees, clockwise.
  public var rotationDegrees: Int
  /// Width of a pixel over its height; square by default.
  public var sampleAspect: SampleAspect
  /// Rows of the index, also those of frames without pixels. Sequences are 0 to below this number.
  public var frameCount: Int

  /// Visible bytes of the largest decoded frame. Frames of a track may differ in size.
  package var frameBytes: Int {
    max(Self.bytes(format, width: width, height: height), otherFrameBytes)
  }
  private var otherFrameBytes = 0
  /// Bound of the width and the height, in pixels; nothing larger is ever decoded.
  private static let sideMax = 1 << 24

  private static func bytes(_ format: PixelFormat, width: Int, height: Int) -> Int {
    format.visibleBytes(
      width: min(max(0, width), sideMax), height: min(max(0, height), sideMax))
  }

  /// Notes that some frames of the track have this format and size.
  package mutating func noteFrame(_ format: PixelFormat, width: Int, height: Int) {
    let bytes = Self.bytes(format, width: width, height: height)
    if bytes > frameBytes { otherFrameBytes = bytes }
  }

  /// For a `FrameReader` of one's own. Nothing is checked here.
  public init(
    track: Int, timeBase: TimeBase, format: PixelFormat, width: Int, height: Int,
    range: ColorRange = .limited, matrix: ColorMatrix = .bt601, rotationDegrees: Int = 0,
    sampleAspect: SampleAspect = .square, frameCount: Int
  ) {
    self.track = track
    self.timeBase = timeBase
    self.format = format
    self.width = width
    self.height = height
    self.range = range
    self.matrix = matrix
    self.rotationDegrees = rotationDegrees
    self.sampleAspect = sampleAspect
    self.frameCount = frameCount
  }
}

/// Reads frames by their ID: frames of a session, of a folder, or of a test.
///
/// Several threads use a reader at once, but never for two frames of the same chain.
public protocol FrameReader: Sendable {
  /// In rising order of their track number.
  var tracks: [TrackDescription] { get }

  /// The index rows of a track for a range of sequences, in rising order; sequences that do not
  /// exist are left out.
  func entries(of track: Int, sequences: Range<Int>) throws -> [FrameEntry]

  /// The chain of a frame. Frames of one chain are read one after another, in rising order. Frames
  /// of different chains may be read at the same time.
  func chain(of id: FrameID) -> Int

  /// The exact frame, independent of earlier reads. Reading in rising order is fast.
  ///
  /// - Throws: If the stored bytes do not match the index. A frame whose index row names a damage
  ///   is never requested.
  func frame(_ id: FrameID) throws -> Frame

  /// Events of the device, ordered by time, then by ordinal; times are not shifted.
  func deviceEvents() throws -> [TimedDeviceEvent]
}

extension FrameReader {
  /// No events.
  public func deviceEvents() throws -> [TimedDeviceEvent] { [] }
}

/// A source node of a pipeline that brings its own frames.
public protocol FrameSource: Sendable {
  /// A reader of all of its frames. Each run opens its own.
  func open() throws -> any FrameReader
}
