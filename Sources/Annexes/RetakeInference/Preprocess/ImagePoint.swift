/// A point in pixels, with the origin in the upper left corner and y down.
package struct ImagePoint: Hashable, Sendable {
  package var x: Double
  package var y: Double

  package init(x: Double, y: Double) {
    (self.x, self.y) = (x, y)
  }
}
