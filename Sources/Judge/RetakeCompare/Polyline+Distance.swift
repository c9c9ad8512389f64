import RetakeCore

extension Polyline {
  /// The largest distance from a place on one of two lines to the nearest place on the other, in
  /// pixels: the Hausdorff distance, accurate to 0.001. Infinite if one of them has no vertex, or a
  /// number that is not finite or is too large.
  ///
  /// - Parameter stepsMax: The most pairs of segments that are measured.
  /// - Returns: `nil` if these steps do not suffice, or if it was interrupted.
  func distance(
    to other: Polyline, stepsMax: Int = Self.stepsMax, isInterrupted: () -> Bool = { false }
  ) -> Double? {
    guard let mine = Segments(self), let theirs = Segments(other) else {
      return vertices.isEmpty && other.vertices.isEmpty ? 0 : .infinity
    }
    var steps = stepsMax
    guard let there = mine.distance(to: theirs, &steps, isInterrupted),
      let back = theirs.distance(to: mine, &steps, isInterrupted)
    else { return nil }
    // Without the errors of binary fractions, such as 0.30000000000000004: coordinates have at most
    // nine decimals.
    return FixedDecimal(max(there, back), decimals: 9).value
  }

  /// About a second of processor time.
  private static let stepsMax = 50_000_000
}

/// The lines between the vertices; a single vertex is a line of length 0.
private struct Segments {
  /// The accuracy, in pixels.
  private static let step = 0.001
  /// The steps from one question for an interruption to the next: about 0.02 s.
  private static let stepsBetweenChecks = 1_000_000
  /// Squares of larger numbers are not finite.
  private static let numberMax = 1e100

  private typealias Point = SIMD2<Double>

  private let ends: [(from: Point, to: Point)]

  init?(_ line: Polyline) {
    let vertices = line.vertices
    guard let first = vertices.first, let last = vertices.last,
      vertices.allSatisfy({ max($0.x.magnitude, $0.y.magnitude) <= Self.numberMax })
    else { return nil }
    var ends = zip(vertices, vertices.dropFirst()).map { (from: $0, to: $1) }
    if line.isClosed || ends.isEmpty { ends.append((last, first)) }
    self.ends = ends
  }

  /// The largest distance from a place here to the other line; `nil` if no steps remain, or if it
  /// was interrupted.
  func distance(
    to other: Segments, _ steps: inout Int, _ isInterrupted: () -> Bool
  ) -> Double? {
    var largest = 0.0
    // Neighbors on one line are near neighbors on the other.
    var near = 0
    for piece in ends {
      other.raise(&largest, from: piece.from, to: piece.to, &near, &steps, isInterrupted)
      guard steps > 0 else { return nil }
    }
    return largest
  }

  /// Raises `largest` to the largest distance from a place on the piece to this line.
  ///
  /// The distance to one segment is convex along the piece, so it is largest at an end of the piece.
  private func raise(
    _ largest: inout Double, from start: Point, to end: Point, _ near: inout Int,
    _ steps: inout Int, _ isInterrupted: () -> Bool
  ) {
    var pieces = [(start, end)]
    // Ends: each split halves the length.
    while steps > 0, let (from, to) = pieces.popLast() {
      // A segment that is near both ends is near to each place between them.
      var bound = Double.infinity
      var (least, leastEnd) = (Double.infinity, Double.infinity)
      for index in spiral(around: near) {
        steps -= 1
        if steps % Self.stepsBetweenChecks == 0, isInterrupted() {
          steps = 0
          return
        }
        let segment = ends[index]
        let (first, second) = (
          Self.distance(from, segment.from, segment.to), Self.distance(to, segment.from, segment.to)
        )
        if first < least { (least, near) = (first, index) }
        leastEnd = min(leastEnd, second)
        bound = min(bound, max(first, second))
        if bound <= largest + Self.step { break }
      }
      guard bound > largest + Self.step else { continue }
      largest = max(largest, least, leastEnd)
      let middle = (from + to) / 2
      // The middle of two neighbors among the floating-point numbers is one of the two.
      guard bound > largest + Self.step, middle != from, middle != to else { continue }
      pieces.append((from, middle))
      pieces.append((middle, to))
    }
  }

  /// All indices, from one on in both directions.
  private func spiral(around start: Int) -> some Sequence<Int> {
    let count = ends.count
    return (0..<count).lazy.map { step in
      let offset = step % 2 == 0 ? step / 2 : count - (step + 1) / 2
      return (start + offset) % count
    }
  }

  private static func distance(_ point: Point, _ from: Point, _ to: Point) -> Double {
    let direction = to - from
    let square = (direction * direction).sum()
    let along = square > 0 ? min(max(((point - from) * direction).sum() / square, 0), 1) : 0
    let rest = point - (from + along * direction)
    return (rest * rest).sum().squareRoot()
  }
}
