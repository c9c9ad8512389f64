package import RetakeCore

/// A rectangle with integer coordinates, in pixels.
package struct PixelRectangle: Hashable, Sendable {
  package var x: Int
  package var y: Int
  package var width: Int
  package var height: Int

  package init(x: Int, y: Int, width: Int, height: Int) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }

  /// The pixels that a box and its surroundings touch, clipped at the edges of a frame; `nil` if
  /// the box has no area or is outside of the frame.
  ///
  /// - Parameter padding: The fraction of the box's width that is added on the left and on the
  ///   right, and of its height that is added above and below; 0 to 4.
  package init?(of box: Box, padding: Double, frameWidth: Int, frameHeight: Int) {
    guard
      let columns = Self.span(box.x, box.width, padding: padding, side: frameWidth),
      let rows = Self.span(box.y, box.height, padding: padding, side: frameHeight)
    else { return nil }
    self.init(
      x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
  }

  private static func span(
    _ start: Double, _ length: Double, padding: Double, side: Int
  ) -> Range<Int>? {
    let limit = Double(side)
    // All comparisons are false for NaN.
    guard length > 0, start < limit, start + length > 0, start + length < .infinity,
      padding >= 0, padding <= 4
    else { return nil }
    let margin = padding * length
    let first = Int(max(0, min(limit - 1, (start - margin).rounded(.down))))
    let end = Int(max(0, min(limit, (start + length + margin).rounded(.up))))
    // A box may be thinner than the distance between two floating-point numbers.
    return first..<max(first + 1, end)
  }
}
