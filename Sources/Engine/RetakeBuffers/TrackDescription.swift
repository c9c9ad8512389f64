public import RetakeCore

/// A reader's description of one track.
public struct TrackDescription: Hashable, Sendable {
  /// The number of the track in `entries(of:sequences:)` and `FrameID`.
  public var track: Int
  /// The unit of `FrameEntry.pts`.
  public var timeBase: TimeBase
  /// The pixel format of the first frames. Stages that need another format get a `convert` before
  /// them; a later frame fails if its stage does not accept its format.
  public var format: PixelFormat
  /// Pixels.
  public var width: Int
  /// Pixels.
  public var height: Int
  /// The sample values of black and white; `limited` by default.
  public var range: ColorRange
  /// How luma and chroma were made of colors; `bt601` by default.
  public var matrix: ColorMatrix
  /// Degrees, clockwise.
  public var rotationDegrees: Int
  /// Whether a viewer mirrors the images left to right before it rotates them.
  public var isMirrored = false
  /// Width of a pixel over its height; square by default.
  public var sampleAspect: SampleAspect
  /// Rows of the index, also rows of frames without pixels. Sequences are 0 to below this number.
  public var frameCount: Int

  /// Visible bytes of the largest decoded frame. Frames of a track may differ in size.
  package var frameBytes: Int {
    max(Self.bytes(format, width: width, height: height), otherFrameBytes)
  }
  private var otherFrameBytes = 0
  /// The formats of frames that differ from the format of the first frames, in the order of their
  /// names.
  package private(set) var otherFormats: [PixelFormat] = []
  /// The color labels of the source beyond range and matrix.
  package var color = ColorLabels()
  /// Bound of the width and the height, in pixels; larger frames are never decoded.
  private static let sideMax = 1 << 24

  private static func bytes(_ format: PixelFormat, width: Int, height: Int) -> Int {
    format.visibleBytes(
      width: min(max(0, width), sideMax), height: min(max(0, height), sideMax))
  }

  /// Notes that some frames of the track have this format and size.
  package mutating func noteFrame(_ format: PixelFormat, width: Int, height: Int) {
    let bytes = Self.bytes(format, width: width, height: height)
    if bytes > frameBytes { otherFrameBytes = bytes }
    guard format != self.format, !otherFormats.contains(format) else { return }
    otherFormats = (otherFormats + [format]).sorted { $0.rawValue < $1.rawValue }
  }

  /// For a custom `FrameReader`. This initializer does not check the values.
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
