import RetakeCore
import Testing

@testable import RetakeCompare

@Suite struct ErrorCurveTests {
  private typealias Samples = CompareSamples

  private func curves(
    _ golden: [[ResultFact]], _ actual: [[ResultFact]], _ rule: SinkRule
  ) throws -> [ErrorCurve] {
    var comparator = ResultComparator(
      golden: Samples.header(), actual: Samples.header(), rules: CompareRules(["boxes": rule]))
    let (mine, theirs) = (
      try Samples.chunks(Samples.frames(golden)), try Samples.chunks(Samples.frames(actual))
    )
    for (left, right) in zip(mine, theirs) { try comparator.compare(golden: left, actual: right) }
    _ = comparator.finish()
    return comparator.errorCurves
  }

  private func boxes(_ errors: [Double]) -> [[ResultFact]] {
    errors.map { [Samples.box(10 + $0, score: 0.5 + $0 / 100), Samples.box(90)] }
  }

  /// Once with boxes only, which uses the fast path, and once with a number next to them.
  @Test(arguments: [[], [ResultFact.scalar(name: "n", value: 1)]])
  func `the largest error of every frame is in the curve, inside and outside of the tolerance`(
    _ extra: [ResultFact]
  ) throws {
    var rule = SinkRule.standard
    (rule.position, rule.score) = (1, 0.01)
    let errors = [0, 0.5, 0, 2, 0.3, 1]
    let curves = try curves(
      boxes(errors.map { _ in 0 }).map { $0 + extra }, boxes(errors).map { $0 + extra }, rule)
    #expect(curves.map(\.quantity) == ["position", "score"])
    #expect(curves.map(\.allowed) == [1, 0.01])
    #expect(curves[0].largest == errors.map { Double(Float($0)) })
    #expect(curves[0].least == curves[0].largest && curves[0].framesPerBin == 1)
    #expect(curves[1].largest == errors.map { Double(Float($0 / 100)) })
  }

  @Test func `where all is equal there is no curve`() throws {
    #expect(try curves(boxes([0, 0]), boxes([0, 0]), .standard).isEmpty)
  }

  @Test func `errors of numbers with a relative tolerance are shares of it`() throws {
    var rule = SinkRule(mode: .numeric)
    rule.relative = 0.1
    func facts(_ values: [Double]) -> [[ResultFact]] {
      values.map { [.scalar(name: "n", value: $0)] }
    }
    let curve = try #require(
      try curves(facts([100, 1_000, 0]), facts([105, 1_010, 1]), rule).first)
    #expect(curve.isShare && curve.allowed == 1)
    #expect(curve.largest == [0.5, Double(Float(0.1)), .infinity])
  }

  @Test func `masks and embeddings have a curve of the largest error of each frame`() throws {
    func facts(_ columns: [Int], _ y: Float) -> [ResultFact] {
      columns.map { columns in
        let mask = Mask(width: 20, height: 20) { x, _ in x < columns }
        return .observation(Observation(.mask(mask), label: "m\(columns > 9)"))
      } + [.observation(Observation(.embedding([1, y]), label: "e"))]
    }
    let golden = [[10, 4], [10, 4], [10, 4]].map { facts($0, 0) }
    let curves = try curves(
      golden, [facts([10, 4], 0), facts([16, 5], 0), facts([10, 4], 1)], .standard)
    #expect(curves.map(\.quantity) == ["mask", "embedding"])
    #expect(curves[0].largest == [0, Double(Float(1 - 10.0 / 16))])
    #expect(curves[1].largest.count == 3 && abs(curves[1].largest[2] - 0.292_893) < 1e-5)
    #expect(curves.allSatisfy { $0.allowed == 0 && !$0.isShare })
  }

  @Test func `many frames share bins, and equal ones among them are seen`() {
    var meter = CurveMeter()
    let frames = CurveMeter.binsMax * 2 + 10
    for sequence in 0..<frames where sequence != 5 {
      meter.add(sequence == 8_001 ? 9 : 1 + Double(sequence % 2), at: sequence)
    }
    #expect(meter.framesPerBin == 4)
    #expect(meter.largest.count == (frames + 3) / 4)
    #expect(meter.largest.max() == 9 && meter.largest[2_000] == 9)
    #expect(meter.least[1] == 0 && meter.least[0] == 1 && meter.least[2_000] == 1)
    #expect(meter.largest.allSatisfy { $0 == 2 || $0 == 9 })
  }
}
