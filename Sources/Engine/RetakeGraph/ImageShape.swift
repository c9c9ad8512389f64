public import RetakeBuffers

/// The size and the pixel format of an image.
public struct ImageShape: Hashable, Sendable {
  /// Pixels.
  public var width: Int
  /// Pixels.
  public var height: Int
  /// The layout of the pixels.
  public var format: PixelFormat
  /// How players turn the image.
  package var turn = ImageTurn()

  /// For a test of a stage's `view(of:)`; the engine passes the shape of the stage's input.
  public init(width: Int, height: Int, format: PixelFormat) {
    (self.width, self.height, self.format) = (width, height, format)
  }

  package init(_ frame: Frame) {
    self.init(width: frame.width, height: frame.height, format: frame.format)
    turn = ImageTurn(degrees: frame.rotationDegrees, isMirrored: frame.isMirrored)
  }

  package init(_ track: TrackDescription) {
    self.init(width: track.width, height: track.height, format: track.format)
    turn = ImageTurn(degrees: track.rotationDegrees, isMirrored: track.isMirrored)
  }
}

/// A mirroring left to right, then a rotation by quarter turns.
package struct ImageTurn: Hashable, Sendable {
  /// Clockwise: 0, 90, 180 or 270.
  package var degrees = 0
  package var isMirrored = false

  package init(degrees: Int = 0, isMirrored: Bool = false) {
    (self.degrees, self.isMirrored) = (degrees, isMirrored)
  }

  package var isNone: Bool { degrees == 0 && !isMirrored }
  /// Whether width and height change places.
  package var isOnItsSide: Bool { degrees == 90 || degrees == 270 }
}
