package import RetakeCore

/// One shape of an overlay, in pixels of the image as displayed: upright.
package struct OverlayShape: Hashable, Sendable {
  package struct Point: Hashable, Sendable {
    package var x: Double
    package var y: Double

    package init(x: Double, y: Double) {
      (self.x, self.y) = (x, y)
    }
  }

  package enum Form: Hashable, Sendable {
    /// The border of a box, drawn inward.
    case outline(Box, thickness: Int)
    case fill(Box)
    /// Text of `GlyphAtlas`, with its upper left corner; each glyph pixel is `scale` pixels wide.
    case text(String, x: Int, y: Int, scale: Int)
    /// A line through the points.
    case line([Point], thickness: Int)
  }

  package var form: Form
  package var color: OverlayColor

  package init(_ form: Form, _ color: OverlayColor) {
    (self.form, self.color) = (form, color)
  }
}
