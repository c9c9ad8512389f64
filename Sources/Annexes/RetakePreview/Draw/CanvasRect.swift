/// A rectangle in pixels of a canvas: origin at the top left, y pointing down.
struct CanvasRect: Hashable, Sendable {
  var x: Int
  var y: Int
  var width: Int
  var height: Int

  init(_ x: Int, _ y: Int, _ width: Int, _ height: Int) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }

  var maxX: Int { x + width }
  var maxY: Int { y + height }

  func contains(x: Int, y: Int) -> Bool {
    (self.x..<max(self.x, maxX)).contains(x) && (self.y..<max(self.y, maxY)).contains(y)
  }
}
