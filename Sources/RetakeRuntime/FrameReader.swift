import RetakeBuffers
import RetakeCore

/// One row of a frame index: all that the time plane needs to know of a frame before its pixels.
public struct FrameEntry: Hashable, Sendable {
  public var id: FrameID
  /// In the track's time base; `nil` when the source gave none.
  public var pts: Int64?
  /// Presentation time on the session's time line, unshifted.
  public var timestamp: Timestamp
  /// When the frame reached the recorder, on the same line; imported frames arrive at their pts.
  public var arrival: Timestamp
  /// A stable code when the frame fails, recoverably, at the source.
  public var damage: String?
  /// The row stands but the recorder shed the pixels: no arrival event, counted beside the ledger.
  public var isPayloadMissing: Bool
  /// XXH3-128 of the packet that the frame came from.
  public var packetDigest: Digest128?

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

/// What a reader knows of one track.
public struct TrackDescription: Hashable, Sendable {
  public var track: Int
  public var timeBase: TimeBase
  public var format: PixelFormat
  /// Pixels.
  public var width: Int
  /// Pixels.
  public var height: Int
  public var range: ColorRange
  public var matrix: ColorMatrix
  /// Degrees, clockwise.
  public var rotationDegrees: Int
  public var sampleAspect: SampleAspect
  public var frameCount: Int

  /// Visible bytes of the largest frame, as it is decoded; frames of a track may differ in size.
  package var frameBytes: Int {
    max(Self.bytes(format, width: width, height: height), otherFrameBytes)
  }
  private var otherFrameBytes = 0
  /// Pixels in a row or a column; nothing larger is ever decoded.
  private static let sideMax = 1 << 24

  private static func bytes(_ format: PixelFormat, width: Int, height: Int) -> Int {
    format.visibleBytes(
      width: min(max(0, width), sideMax), height: min(max(0, height), sideMax))
  }

  /// Some of the track's frames are like this.
  package mutating func noteFrame(_ format: PixelFormat, width: Int, height: Int) {
    let bytes = Self.bytes(format, width: width, height: height)
    if bytes > frameBytes { otherFrameBytes = bytes }
  }

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

/// Frames by name: a session's, or a folder's, or a test's own.
///
/// A reader is used by several threads at once, but never for two frames of one chain.
public protocol FrameReader: Sendable {
  /// In rising order of their number.
  var tracks: [TrackDescription] { get }

  /// The index rows of a track for a range of sequences, in rising order; sequences that do not
  /// exist are left out.
  func entries(of track: Int, sequences: Range<Int>) throws -> [FrameEntry]

  /// Frames of one chain are read one after another, in rising order; frames of different chains
  /// may be read at the same time.
  func chain(of id: FrameID) -> Int

  /// The frame, exactly, whatever was read before; fast in rising order.
  ///
  /// - Throws: When the stored bytes are not what the index says. Frames whose index row names a
  ///   damage are never asked for.
  func frame(_ id: FrameID) throws -> Frame

  /// What happened to the device, by time, then by ordinal; times are unshifted.
  func deviceEvents() throws -> [TimedDeviceEvent]
}

extension FrameReader {
  /// None.
  public func deviceEvents() throws -> [TimedDeviceEvent] { [] }
}

/// A source node of a pipeline that brings its own frames.
public protocol FrameSource: Sendable {
  func open() throws -> any FrameReader
}
