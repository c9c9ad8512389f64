/// A rectangle in pixels, in the frame's own coordinates: origin top left, y down.
public struct Box: Hashable, Sendable, Codable {
  /// The left edge. It may be negative, and may have a fraction.
  public var x: Double
  /// The top edge. It may be negative, and may have a fraction.
  public var y: Double
  /// `x + width` may be beyond the frame.
  public var width: Double
  /// `y + height` may be beyond the frame.
  public var height: Double

  /// All values are in pixels, not 0 to 1. The values are not checked.
  public init(x: Double, y: Double, width: Double, height: Double) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// In square pixels.
  public var area: Double { width * height }
}
