import RetakeCore

/// A colour of an overlay, with how much of it covers what lies below.
public struct OverlayColour: Hashable, Sendable {
  public var red: UInt8
  public var green: UInt8
  public var blue: UInt8
  /// 0 shows nothing of it, 255 nothing of what lies below.
  public var alpha: UInt8

  public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
    (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
  }

  static let white = OverlayColour(red: 255, green: 255, blue: 255)
  /// What letters stand on.
  static let shade = OverlayColour(red: 0, green: 0, blue: 0, alpha: 160)

  /// Tells classes apart, also for most who see few colours: the palette of Okabe and Ito.
  static func ofClass(_ index: Int) -> OverlayColour {
    let count = palette.count
    return palette[((index % count) + count) % count]
  }

  private static let palette = [
    OverlayColour(red: 230, green: 159, blue: 0), OverlayColour(red: 86, green: 180, blue: 233),
    OverlayColour(red: 0, green: 158, blue: 115), OverlayColour(red: 240, green: 228, blue: 66),
    OverlayColour(red: 0, green: 114, blue: 178), OverlayColour(red: 213, green: 94, blue: 0),
    OverlayColour(red: 204, green: 121, blue: 167),
  ]
}

/// One shape of an overlay, in pixels of the picture as a viewer sees it: turned upright.
public struct OverlayShape: Hashable, Sendable {
  public struct Point: Hashable, Sendable {
    public var x: Double
    public var y: Double

    public init(x: Double, y: Double) {
      (self.x, self.y) = (x, y)
    }
  }

  public enum Form: Hashable, Sendable {
    /// The border of a box, drawn inward.
    case outline(Box, thickness: Int)
    case fill(Box)
    /// Letters of `GlyphAtlas` from a left upper corner on, each of its pixels `scale` pixels wide.
    case text(String, x: Int, y: Int, scale: Int)
    /// From point to point.
    case line([Point], thickness: Int)
  }

  public var form: Form
  public var colour: OverlayColour

  public init(_ form: Form, _ colour: OverlayColour) {
    (self.form, self.colour) = (form, colour)
  }
}
