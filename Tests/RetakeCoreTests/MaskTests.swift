import RetakeTestSupport
import Testing

@testable import RetakeCore

@Suite struct MaskTests {
  // Made by pycocotools 2.0.11.
  static let coco: [(Int, Int, [Int], String)] = [
    (2, 3, [6], #"6"#),
    (2, 3, [0, 6], #"06"#),
    (5, 4, [5, 3, 1, 3, 1, 3, 4], #"5310003"#),
    (
      640, 480,
      [24100, 200, 280, 200, 280, 200, 280, 200, 280, 200, 280, 160, 320, 160, 320, 160, 279580],
      #"Tag0X6h800000000hNX1000lf`8"#
    ),
    (
      7, 6, [0, 2, 2, 1, 1, 1, 2, 1, 1, 1, 1, 4, 2, 1, 2, 1, 1, 1, 4, 5, 2, 1, 1, 1, 1, 1, 1],
      #"022OO010O0031M00O034NLO0000"#
    ),
  ]

  @Test(arguments: coco)
  func `masks are written as COCO's tools write them`(
    width: Int, height: Int, runs: [Int], counts: String
  )
    throws
  {
    let mask = try #require(Mask(width: width, height: height, runs: runs))
    #expect(mask.runs == runs && mask.counts == counts)
    #expect(Mask(width: width, height: height, counts: counts) == mask)
  }

  /// By its runs: a question for each pixel of a thousand images would last for seconds.
  private static func disc(_ x: Double, _ y: Double, _ across: Double, _ down: Double) throws
    -> Mask
  {
    var (runs, place) = ([Int](), 0)
    for column in 0..<640 {
      let share = (Double(column) - x) / across
      guard share.magnitude < 1 else { continue }
      let half = down * (1 - share * share).squareRoot()
      let (top, bottom) = (max(0, Int(y - half)), min(480, Int(y + half)))
      guard top < bottom else { continue }
      runs += [column * 480 + top - place, bottom - top]
      place = column * 480 + bottom
    }
    return try #require(Mask(width: 640, height: 480, runs: runs + [640 * 480 - place]))
  }

  @Test func `empty runs are joined`() {
    #expect(Mask(width: 2, height: 3, runs: [1, 0, 1, 2, 0, 1, 1])?.runs == [2, 3, 1])
    #expect(Mask(width: 2, height: 1, runs: [])?.runs == nil)
    #expect(Mask(width: 2, height: 1, runs: [0, 2, 0])?.runs == [0, 2])
  }

  @Test(arguments: [[5], [7], [-1, 7], [3, 4], [.max, 1]])
  func `runs that do not cover the mask are refused`(runs: [Int]) {
    #expect(Mask(width: 2, height: 3, runs: runs) == nil)
  }

  @Test(arguments: ["", "o", "/6", "7", "oooooooooo0", "pp", "é"])
  func `a string that is not a mask is refused`(counts: String) {
    #expect(Mask(width: 2, height: 3, counts: counts) == nil)
  }

  @Test func `the overlap is intersection over union`() {
    let left = Mask(width: 4, height: 4) { x, _ in x < 2 }
    let right = Mask(width: 4, height: 4) { x, _ in x > 0 }
    #expect(left.overlap(with: right) == 0.25 && right.overlap(with: left) == 0.25)
    #expect(left.overlap(with: left) == 1)
    let empty = Mask(width: 4, height: 4) { _, _ in false }
    #expect(left.overlap(with: empty) == 0 && empty.overlap(with: empty) == 1)
    #expect(left.overlap(with: Mask(width: 2, height: 8) { _, _ in true }) == 0)
    #expect(left.area == 8 && empty.area == 0)
  }

  @Test func `the overlap of random masks equals a count of their pixels`() throws {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<50 {
      let pixels = (0..<2).map { _ in (0..<77).map { _ in Bool.random(using: &random) } }
      let masks = pixels.map { own in Mask(width: 7, height: 11) { own[$0 * 11 + $1] } }
      let both = zip(pixels[0], pixels[1]).count { $0 && $1 }
      let either = zip(pixels[0], pixels[1]).count { $0 || $1 }
      #expect(masks[0].overlap(with: masks[1]) == Double(both) / Double(either))
      #expect(Mask(width: 7, height: 11, counts: masks[0].counts) == masks[0])
    }
  }

  @Test func `the outline encloses the object`() throws {
    let ring = Mask(width: 9, height: 9) { x, y in
      (2...6).contains(x) && (2...6).contains(y) && !(x == 4 && y == 4)
    }
    let outline = ring.outline
    // Twice the area that the outline encloses; a hole counts the other way round.
    let area = outline.bones.reduce(0.0) { sum, bone in
      let (from, to) = (outline.points[bone.from], outline.points[bone.to])
      return sum + from.x * to.y - to.x * from.y
    }
    #expect(area / 2 == Double(ring.area))
    #expect(outline.points.map(\.x).min() == 2 && outline.points.map(\.y).max() == 7)
    let disc = try Self.disc(320, 240, 60, 80)
    #expect(disc.outline.points.count < 60)
    #expect(Mask(width: 3, height: 3) { _, _ in false }.outline.points.isEmpty)
  }

  @Test func `1,000 masks of objects need at most 200 bytes each in a golden`() throws {
    var random = SeededGenerator(seed: 11)
    let facts = try (0..<1_000).map { _ in
      let disc = try Self.disc(
        .random(in: 0...640, using: &random), .random(in: 0...480, using: &random),
        .random(in: 8...52, using: &random), .random(in: 8...100, using: &random))
      return ResultFact.observation(Observation(.mask(disc), label: "person", score: 0.9))
    }
    let bytes = ResultSamples.lines(facts).reduce(0) { $0 + $1.utf8.count + 1 }
    #expect(bytes <= 200_000, "\(bytes) bytes")
  }
}
