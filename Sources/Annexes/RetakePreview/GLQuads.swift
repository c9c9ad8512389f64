/// Two triangles for each rectangle.
struct GLQuads {
  private(set) var vertices: [Float] = []

  /// - Parameter corners: The places in the texture, clockwise from the top left corner.
  mutating func add(
    _ rect: CanvasRect, _ corners: [(Float, Float)] = [(0, 0), (1, 0), (1, 1), (0, 1)]
  ) {
    let places = [
      (rect.x, rect.y), (rect.maxX, rect.y), (rect.maxX, rect.maxY), (rect.x, rect.maxY),
    ]
    for corner in [0, 1, 2, 0, 2, 3] {
      vertices.append(Float(places[corner].0))
      vertices.append(Float(places[corner].1))
      vertices.append(corners[corner].0)
      vertices.append(corners[corner].1)
    }
  }
}
