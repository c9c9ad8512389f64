import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeCompare

/// Five planted regressions of each kind, found at their frame, and not found within tolerance.
@Suite struct ObservationTests {
  struct Planted: Sendable, CustomTestStringConvertible {
    var name: String
    var golden: [Observation]
    var actual: [Observation]
    var kind: Finding.Kind
    var message: String
    /// The size of the error, and a rule that allows it; `nil` if no tolerance does.
    var error: Double?
    var rule: SinkRule?

    var testDescription: String { name }
  }

  private static func facts(_ observations: [Observation]) -> [ResultFact] {
    observations.map { .observation($0) }
  }

  private static func rule(_ change: (inout SinkRule) -> Void) -> SinkRule {
    var rule = SinkRule.standard
    change(&rule)
    return rule
  }

  private static func check(_ planted: Planted) throws {
    let good = facts(planted.golden)
    let golden = [good, good, good, good]
    let actual = [good, good, facts(planted.actual), good]
    let outcome = try CompareSamples.compare(
      CompareSamples.frames(golden), CompareSamples.frames(actual))
    let finding = try #require(outcome.findings.first)
    #expect(outcome.findings.count == 1)
    #expect(finding.kind == planted.kind && finding.message == planted.message)
    #expect(finding.frame == FrameID(track: 0, sequence: 2) && finding.node == "boxes")
    if let error = planted.error {
      #expect(finding.magnitude.map { abs($0 - error) < 1e-6 } == true)
    }
    guard let rule = planted.rule else { return }
    let allowed = try CompareSamples.compare(
      CompareSamples.frames(golden), CompareSamples.frames(actual), rule)
    #expect(allowed.findings.isEmpty)
    #expect(allowed.counts.withinTolerance == 1)
    let exact = try CompareSamples.findings(golden, actual, SinkRule(mode: .exact))
    #expect(exact.count == 1)
  }

  // MARK: Masks

  private static func mask(
    _ columns: Range<Int>, _ label: String = "car", score: Double = 0.5, identity: Int? = nil
  ) -> Observation {
    let mask = Mask(width: 40, height: 10) { x, _ in columns.contains(x) }
    return Observation(.mask(mask), label: label, score: score, identity: identity)
  }

  static let masks = [
    Planted(
      name: "a mask that grows", golden: [mask(0..<9)], actual: [mask(0..<10)], kind: .maskChanged,
      message: "the mask car: IoU 0.9000, at least 1.0000", error: 0.1,
      rule: rule { $0.maskIoUMin = 0.9 }),
    Planted(
      name: "a mask that is gone", golden: [mask(0..<9), mask(20..<30)], actual: [mask(20..<30)],
      kind: .factDisappeared, message: "the mask car is missing"),
    Planted(
      name: "a new mask before the others", golden: [mask(20..<30)],
      actual: [mask(0..<9, "bus"), mask(20..<30)], kind: .factAppeared,
      message: "the mask bus is new"),
    Planted(
      name: "another class", golden: [mask(0..<9)], actual: [mask(0..<9, "bus")],
      kind: .classChanged, message: "the mask car: is bus now"),
    Planted(
      name: "another number and score", golden: [mask(0..<9, identity: 4)],
      actual: [mask(0..<9, score: 0.25)], kind: .scoreChanged,
      message: "the mask car #4: its score differs by 0.2500, is without a number now",
      error: 0.25),
  ]

  @Test(arguments: masks) func `a change of a mask is found`(planted: Planted) throws {
    try Self.check(planted)
  }

  @Test func `masks of another size are named with both sizes`() throws {
    let other = Observation(.mask(Mask(width: 10, height: 40) { _, _ in true }), label: "car")
    let findings = try CompareSamples.findings(
      [Self.facts([Self.mask(0..<9)])], [Self.facts([other])])
    #expect(findings.map(\.kind) == [.maskChanged])
    #expect(findings[0].message.contains("its size is 10x40 instead of 40x10"))
    let inOrder = try CompareSamples.findings(
      [Self.facts([Self.mask(0..<9, score: 1)])], [Self.facts([other])], SinkRule(mode: .exact))
    #expect(inOrder.map(\.message) == ["the mask car: its size is 10x40 instead of 40x10"])
  }

  @Test func `masks are paired by their pixels and not by their order`() throws {
    let (left, right) = (Self.mask(0..<9), Self.mask(20..<30))
    #expect(
      try CompareSamples.findings([Self.facts([left, right])], [Self.facts([right, left])]).isEmpty)
    let exact = try CompareSamples.findings(
      [Self.facts([left, right])], [Self.facts([right, left])], SinkRule(mode: .exact))
    #expect(exact.map(\.kind) == [.maskChanged, .maskChanged])
  }

  // MARK: Points

  private static func points(
    _ x: Double, _ y: Double = 5, names: [String] = ["eye", "nose"], score: Double = 1,
    identity: Int? = nil
  ) -> Observation {
    let points = names.enumerated().map { index, name in
      KeyPoint(name, x: index == 0 ? x : 50, y: index == 0 ? y : 60, score: score)
    }
    return Observation(
      .points(KeyPoints(points, bones: [.init(0, 1)])), label: "face", identity: identity)
  }

  static let points = [
    Planted(
      name: "a point that moves", golden: [points(10)], actual: [points(12.5)], kind: .pointMoved,
      message: "the set of points face: eye moved by 2.5 px", error: 2.5,
      rule: rule { $0.position = 2.5 }),
    Planted(
      name: "a point that moves down", golden: [points(10)], actual: [points(10.5, 7)],
      kind: .pointMoved, message: "the set of points face: eye moved by 2.0 px", error: 2,
      rule: rule { $0.position = 2 }),
    Planted(
      name: "scores of points", golden: [points(10)], actual: [points(10, score: 0.75)],
      kind: .scoreChanged,
      message: "the set of points face: the score of eye differs by 0.2500 (and 1 other point)",
      error: 0.25, rule: rule { $0.score = 0.25 }),
    Planted(
      name: "points of other names", golden: [points(10)],
      actual: [points(10, names: ["nose", "eye"])], kind: .pointMoved,
      message: "the set of points face: the point nose is in another place of the list"),
    Planted(
      name: "a lost point", golden: [points(10)], actual: [points(10, names: ["eye"])],
      kind: .pointMoved, message: "the set of points face: it has 1 point instead of 2"),
  ]

  @Test(arguments: points) func `a change of points is found`(planted: Planted) throws {
    try Self.check(planted)
  }

  @Test func `another number of an object is reported once`() throws {
    let golden = Array(repeating: Self.facts([Self.points(10, identity: 1)]), count: 4)
    let actual = Array(repeating: Self.facts([Self.points(10, identity: 7)]), count: 4)
    let findings = try CompareSamples.findings(golden, actual)
    #expect(findings.map(\.message) == ["the set of points face #1: is number 7 now"])
  }

  // MARK: Embeddings

  private static func vector(_ elements: [Float], _ label: String = "id") -> Observation {
    Observation(.embedding(elements), label: label)
  }

  static let embeddings = [
    Planted(
      name: "another direction", golden: [vector([1, 0])], actual: [vector([0.6, 0.8])],
      kind: .embeddingChanged, message: "the embedding id: cosine distance 0.400000", error: 0.4,
      rule: rule { $0.cosineMax = 0.41 }),
    Planted(
      name: "another length", golden: [vector([1, 2])], actual: [vector([2, 4])],
      kind: .embeddingChanged, message: "the embedding id: other numbers in the same direction",
      error: 0,
      rule: rule { $0.cosineMax = 1e-6 }),
    Planted(
      name: "fewer elements", golden: [vector([1, 2])], actual: [vector([1])],
      kind: .embeddingChanged, message: "the embedding id: it has 1 element instead of 2"),
    Planted(
      name: "a vector without direction", golden: [vector([1, 2])], actual: [vector([0, 0])],
      kind: .embeddingChanged, message: "the embedding id: one of the two vectors has no direction"),
    Planted(
      name: "another name", golden: [vector([1, 2]), vector([3, 1], "b")],
      actual: [vector([3, 1], "b"), vector([1, 2]), vector([1, 2], "c")], kind: .factAppeared,
      message: "the embedding c is new"),
  ]

  @Test(arguments: embeddings) func `a change of an embedding is found`(planted: Planted) throws {
    try Self.check(planted)
  }

  // MARK: JSON

  private static func json(_ members: [String: JSONValue]) -> Observation {
    Observation(.json(.object(members)), label: "meta")
  }

  static let documents = [
    Planted(
      name: "a number", golden: [json(["a": .array([.integer(1), .number(2.5)])])],
      actual: [json(["a": .array([.integer(1), .number(2.75)])])], kind: .fieldChanged,
      message: "the JSON value meta: differs at /a/1: 2.75 instead of 2.5", error: 0.25,
      rule: rule { $0.scalar = 0.25 }),
    Planted(
      name: "a number within a share of it", golden: [json(["a": .integer(100)])],
      actual: [json(["a": .integer(101)])], kind: .fieldChanged,
      message: "the JSON value meta: differs at /a: 101 instead of 100", error: 1,
      rule: rule { $0.relative = 0.01 }),
    Planted(
      name: "a field that is gone", golden: [json(["a": .integer(1), "b/~": .null])],
      actual: [json(["a": .integer(1)])], kind: .fieldChanged,
      message: "the JSON value meta: differs at /b~1~0: no field instead of null"),
    Planted(
      name: "the first of several fields",
      golden: [json(["b": .integer(1), "a": .object(["x": .string("p")]), "c": .bool(true)])],
      actual: [json(["b": .integer(2), "a": .object(["x": .string("q")]), "c": .bool(true)])],
      kind: .fieldChanged,
      message: "the JSON value meta: differs at /a/x: \"q\" instead of \"p\" (and in 1 other field)"
    ),
    Planted(
      name: "integers that no 64-bit float tells apart",
      golden: [json(["n": .integer(9_007_199_254_740_992)])],
      actual: [json(["n": .integer(9_007_199_254_740_993)])], kind: .fieldChanged,
      message: "the JSON value meta: differs at /n: 9007199254740993 instead of 9007199254740992"),
  ]

  @Test(arguments: documents) func `a change of a field is found`(planted: Planted) throws {
    try Self.check(planted)
  }

  // MARK: Rules

  @Test func `the largest errors are reported next to their tolerances`() throws {
    let good = Self.facts([Self.mask(0..<10), Self.vector([1, 0])])
    let other = Self.facts([Self.mask(0..<9), Self.vector([0.6, 0.8])])
    let outcome = try CompareSamples.compare(
      CompareSamples.frames([good, good]), CompareSamples.frames([good, other]),
      Self.rule { ($0.maskIoUMin, $0.cosineMax) = (0.8, 0.5) })
    #expect(outcome.findings.isEmpty)
    let rows = outcome.headroom.filter { ["mask", "embedding"].contains($0.quantity) }
    #expect(rows.map(\.quantity) == ["mask", "embedding"] && rows.map(\.allowed) == [0.2, 0.5])
    #expect(rows.map { ($0.largest ?? -1) * 1000 }.map { $0.rounded() } == [100, 400])
    #expect(rows.allSatisfy { $0.frame == FrameID(track: 0, sequence: 1) })
    let equal = try CompareSamples.compare(
      CompareSamples.frames([good]), CompareSamples.frames([good]))
    #expect(!equal.headroom.contains { ["mask", "embedding"].contains($0.quantity) })
  }

  @Test func `tolerances are written only if they are set`() throws {
    func keys(_ rule: SinkRule) throws -> [String] {
      guard case .object(let members) = try JSONValue(encoding: rule) else { return [] }
      return members.keys.filter { ["maskIoUMin", "cosineMax"].contains($0) }.sorted()
    }
    #expect(try keys(.standard).isEmpty)
    let rule = Self.rule { ($0.maskErrorMax, $0.cosineMax) = (0.03, 0.1) }
    #expect(rule.maskIoUMin == 0.97 && rule.maskErrorMax == 0.03)
    #expect(try keys(rule) == ["cosineMax", "maskIoUMin"])
  }
}
