extension Mask {
  /// A corner of a pixel.
  private struct Corner: Hashable {
    var x: Int
    var y: Int
  }

  /// The most corners before they are simplified. Noise has more, and keeps its first outlines.
  private static let cornersMax = 65_536

  /// The border of the object as unnamed points and bones, within one pixel of its true place.
  package var outline: KeyPoints {
    var outline = KeyPoints([])
    for loop in loops() {
      let corners = Self.simplified(loop)
      let first = outline.points.count
      outline.points += corners.map { KeyPoint("", x: Double($0.x), y: Double($0.y)) }
      outline.bones += corners.indices.map {
        KeyPoints.Bone(first + $0, first + ($0 + 1) % corners.count)
      }
    }
    return outline
  }

  /// The rows inside the object, by column.
  private var columns: [[Range<Int>]] {
    var columns = [[Range<Int>]](repeating: [], count: width)
    var place = 0
    for (index, run) in runs.enumerated() {
      defer { place += run }
      guard index % 2 == 1 else { continue }
      for x in (place / height)...((place + run - 1) / height) {
        let top = x * height
        columns[x].append(max(place - top, 0)..<min(place + run - top, height))
      }
    }
    return columns
  }

  /// The sides of the object's pixels that form its border, with the object to the right.
  private func sides() -> [(from: Corner, to: Corner)] {
    let columns = self.columns
    var sides: [(from: Corner, to: Corner)] = []
    for x in 0...width {
      let (left, right) = (x > 0 ? columns[x - 1] : [], x < width ? columns[x] : [])
      for rows in right {
        sides.append((Corner(x: x, y: rows.lowerBound), Corner(x: x + 1, y: rows.lowerBound)))
        sides.append((Corner(x: x + 1, y: rows.upperBound), Corner(x: x, y: rows.upperBound)))
      }
      // Rows that one of the two columns has lie between every second of the sorted ends.
      let ends = (left + right).flatMap { [$0.lowerBound, $0.upperBound] }.sorted()
      for pair in stride(from: 0, to: ends.count, by: 2) where ends[pair] < ends[pair + 1] {
        let (top, bottom) = (Corner(x: x, y: ends[pair]), Corner(x: x, y: ends[pair + 1]))
        sides.append(left.contains { $0.contains(top.y) } ? (top, bottom) : (bottom, top))
      }
      if sides.count > Self.cornersMax { break }
    }
    return sides
  }

  private func loops() -> [[Corner]] {
    let sides = sides()
    var next: [Corner: [Int]] = [:]
    for (index, side) in sides.enumerated() { next[side.from, default: []].append(index) }
    var isUsed = [Bool](repeating: false, count: sides.count)
    var loops: [[Corner]] = []
    for start in sides.indices where !isUsed[start] {
      var loop: [Corner] = []
      var side: Int? = start
      while let index = side {
        isUsed[index] = true
        loop.append(sides[index].from)
        side = next[sides[index].to]?.first { !isUsed[$0] }
      }
      loops.append(loop)
    }
    return loops
  }

  /// The corners without which a corner would be farther than a pixel from the line
  /// (Ramer-Douglas-Peucker).
  private static func simplified(_ loop: [Corner]) -> [Corner] {
    guard loop.count > 4 else { return loop }
    func square(_ from: Corner, _ to: Corner) -> Int {
      (to.x - from.x) * (to.x - from.x) + (to.y - from.y) * (to.y - from.y)
    }
    // The two ends of a loop are one corner, so the loop is cut at a second one far away.
    let far = loop.indices.max { square(loop[0], loop[$0]) < square(loop[0], loop[$1]) } ?? 0
    let closed = loop + [loop[0]]
    var isKept = [Bool](repeating: false, count: closed.count)
    (isKept[0], isKept[far]) = (true, true)
    var spans = [(0, far), (far, closed.count - 1)]
    while let (from, to) = spans.popLast() {
      guard to - from > 1 else { continue }
      let (start, end) = (closed[from], closed[to])
      let length = square(start, end)
      var (worst, distance) = (from, 0)
      for index in (from + 1)..<to {
        let corner = closed[index]
        // Twice the area of the triangle: the distance from the line times its length.
        let (x, y) = (corner.x - start.x, corner.y - start.y)
        let area = (end.x - start.x) * y - (end.y - start.y) * x
        if abs(area) > distance { (worst, distance) = (index, abs(area)) }
      }
      guard distance > 0, distance * distance > length else { continue }
      isKept[worst] = true
      spans += [(from, worst), (worst, to)]
    }
    return loop.indices.filter { isKept[$0] }.map { loop[$0] }
  }
}
