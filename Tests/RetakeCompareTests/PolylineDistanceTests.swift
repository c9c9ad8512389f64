import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeCompare

@Suite struct PolylineDistanceTests {
  private func isNear(_ distance: Double?, _ other: Double, within error: Double = 0.002) -> Bool {
    distance.map { abs($0 - other) < error } ?? false
  }

  /// A contour with each pixel as a vertex, and lines that come close to their own turns.
  @Test func `lines of many vertices are compared in time`() {
    func spiral(_ count: Int, _ turns: Double, moved: Double = 0) -> Polyline {
      Polyline(
        (0..<count).map { index in
          let share = Double(index) / Double(count)
          let angle = 2 * Double.pi * turns * share
          return SIMD2(moved + 500 * share * cos(angle), 500 * share * sin(angle))
        })
    }
    #expect(isNear(spiral(3_000, 3).distance(to: spiral(3_000, 3, moved: 2)), 2, within: 0.01))
    #expect(spiral(100_000, 1_000).distance(to: spiral(100_000, 1_000), stepsMax: 10_000_000) == 0)
    let far = spiral(20_000, 100, moved: 5_000)
    #expect(spiral(20_000, 100).distance(to: far, stepsMax: 100_000) == nil)
  }

  @Test func `the distance of coordinates with decimals has no error of binary fractions`() {
    let lines = [58.1, 58.4].map { Polyline([[0, $0], [9, $0]]) }
    #expect(lines[1].vertices[0].y - lines[0].vertices[0].y != 0.3)
    #expect(lines[0].distance(to: lines[1]) == 0.3)
  }

  private static let square: [SIMD2<Double>] = [[0, 0], [10, 0], [10, 10], [0, 10]]

  @Test func `the order of the vertices and vertices on a line have no effect`() {
    let square = Polyline(Self.square, isClosed: true)
    let other: [SIMD2<Double>] = [[10, 10], [10, 0], [4, 0], [0, 0], [0, 10]]
    #expect(square.distance(to: square) == 0)
    #expect(square.distance(to: Polyline(other, isClosed: true)) == 0)
    #expect(square.distance(to: Polyline(other, isClosed: true), stepsMax: 3) == nil)
  }

  @Test func `lines through the same vertices in another order differ`() {
    let square = Polyline(Self.square, isClosed: true)
    let bow: [SIMD2<Double>] = [[0, 0], [10, 10], [10, 0], [0, 10]]
    // The center, where the diagonals cross, is 5 away from each side.
    #expect(isNear(square.distance(to: Polyline(bow, isClosed: true)), 5))
    // The side from the last vertex to the first.
    #expect(isNear(square.distance(to: Polyline(Self.square)), 5))
  }

  @Test(arguments: [
    (Polyline([[0, 0], [10, 0]]), Polyline([[0, 2], [10, 2]]), 2.0),
    (Polyline([[0, 0], [10, 0]]), Polyline([[0, 0], [13, 0]]), 3),
    // The far place of the longer line is in the middle of a segment, between two vertices.
    (Polyline([[0, 0], [10, 0]]), Polyline([[0, 0], [5, 5], [10, 0]]), 5),
    (Polyline([[3, 4]]), Polyline([[0, 0]]), 5),
    (Polyline([]), Polyline([]), 0),
    (Polyline([]), Polyline([[0, 0]]), .infinity),
    (Polyline([[0, .nan]]), Polyline([[0, 0]]), .infinity),
    (Polyline([[0, 0], [1e300, 0]]), Polyline([[0, 1], [-1e300, 1]]), .infinity),
    (Polyline([[1e17, 0], [1e17, 1e17]]), Polyline([[1e17, 0], [1e17, 1e17]]), 0),
  ])
  func `the distance is that of the farthest place`(
    _ left: Polyline, _ right: Polyline, _ far: Double
  ) {
    for distance in [left.distance(to: right), right.distance(to: left)] {
      #expect(distance == far || isNear(distance, far), "\(distance ?? -1)")
    }
  }

  /// The distance of many places on each line, from all segments.
  @Test func `random lines have the distance that dense samples have`() {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<60 {
      let lines = [0, 1].map { _ in
        Polyline(
          (0..<Int.random(in: 1...9, using: &random)).map { _ in
            SIMD2(
              Double.random(in: 0...40, using: &random), Double.random(in: 0...40, using: &random))
          }, isClosed: Bool.random(using: &random))
      }
      let places = lines.map(Self.places)
      let sampled = max(
        Self.farthest(of: places[0], from: places[1]), Self.farthest(of: places[1], from: places[0])
      )
      let distance = lines[0].distance(to: lines[1])
      #expect(isNear(distance, sampled, within: 0.3), "\(lines)")
    }
  }

  private static func farthest(of places: [SIMD2<Double>], from others: [SIMD2<Double>]) -> Double {
    var farthest = 0.0
    for place in places {
      var least = Double.infinity
      for other in others {
        let difference = other - place
        least = min(least, (difference * difference).sum())
      }
      farthest = max(farthest, least)
    }
    return farthest.squareRoot()
  }

  private static func places(_ line: Polyline) -> [SIMD2<Double>] {
    var ends = Array(zip(line.vertices, line.vertices.dropFirst()))
    if line.isClosed || ends.isEmpty {
      ends.append((line.vertices[line.vertices.count - 1], line.vertices[0]))
    }
    return ends.flatMap { from, to in (0...200).map { from + Double($0) / 200 * (to - from) } }
  }
}
