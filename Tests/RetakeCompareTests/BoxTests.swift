import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeCompare

@Suite struct BoxTests {
  private typealias Samples = CompareSamples

  private func permutations(_ count: Int) -> [[Int]] {
    guard count > 0 else { return [[]] }
    return permutations(count - 1).flatMap { shorter in
      (0..<count).map { place in
        var longer = shorter
        longer.insert(count - 1, at: place)
        return longer
      }
    }
  }

  @Test func `the assignment is the best of all`() {
    var random = SeededGenerator(seed: 3)
    for round in 0..<300 {
      let rows = 1 + round % 5
      let columns = 1 + (round / 5) % 5
      let weights = (0..<rows).map { _ in
        (0..<columns).map { _ in max(0, Int.random(in: -5...20, using: &random)) }
      }
      let pairs = Assignment.best(weights)
      let sum = zip(weights, pairs).map { row, column in column.map { row[$0] } ?? 0 }
        .reduce(0, +)
      let side = max(rows, columns)
      let best = permutations(side).map { order in
        (0..<rows).map { row in order[row] < columns ? weights[row][order[row]] : 0 }
          .reduce(0, +)
      }.max()
      #expect(sum == best, "\(weights)")
      #expect(Set(pairs.compactMap(\.self)).count == pairs.compactMap(\.self).count)
    }
  }

  @Test func `an empty side pairs nothing`() {
    #expect(Assignment.best([]).isEmpty)
    #expect(Assignment.best([[], []]) == [nil, nil])
    #expect(Assignment.best([[0], [0]]) == [nil, nil])
  }

  @Test func `overlap is the intersection over the union`() throws {
    func overlap(_ left: ResultFact, _ right: ResultFact) -> Double {
      guard case .detection(let a) = left, case .detection(let b) = right else { return -1 }
      return BoxMatching.overlap(DetectionLine(a, .default), DetectionLine(b, .default))
    }
    #expect(overlap(Samples.box(0), Samples.box(0)) == 1)
    #expect(overlap(Samples.box(0), Samples.box(5)) == 50.0 / 150)
    #expect(overlap(Samples.box(0), Samples.box(10)) == 0)
    #expect(overlap(Samples.box(.nan), Samples.box(.nan)) == 0)
    for odd in [Samples.box(.nan), Samples.box(0, .nan), Samples.box(0, 0, .nan)] {
      #expect(overlap(Samples.box(0), odd) == 0 && overlap(odd, Samples.box(0)) == 0)
    }
    #expect(overlap(Samples.box(0, 0, .infinity), Samples.box(0, 0, .infinity)) == 0)
  }

  @Test func `boxes move, appear and disappear, each as one finding`() throws {
    let findings = try Samples.findings(
      [[Samples.box(0), Samples.box(100), Samples.box(200)]],
      [[Samples.box(1.5), Samples.box(100), Samples.box(300)]])
    #expect(findings.map(\.kind) == [.boxMoved, .boxDisappeared, .boxAppeared])
    #expect(findings[0].magnitude == 1.5 && findings[0].allowed == 0)
    #expect(findings[0].golden == "D -:0 0.0 0.0 10.0 10.0 0.5000")
    #expect(findings[0].message == "car at 0.0,0.0 10.0x10.0: moved by 1.5 px")
    #expect(findings[1].message == "car at 200.0,0.0 10.0x10.0 is gone")
  }

  @Test func `a box that shrinks more than it moves is said to have another size`() throws {
    let findings = try Samples.findings([[Samples.box(0)]], [[Samples.box(0.5, 0, 10, 6)]])
    #expect(findings.map(\.kind) == [.boxMoved])
    #expect(
      findings.first?.message == "car at 0.0,0.0 10.0x10.0: its size differs by 4.0 px")
  }

  @Test func `a shifted sort order is no change`() throws {
    // The first box moves after the second: every line of the text file differs.
    let findings = try Samples.findings(
      [[Samples.box(0, 1), Samples.box(50, 1.1)]], [[Samples.box(0, 1.2), Samples.box(50, 1.1)]])
    #expect(findings.map(\.kind) == [.boxMoved])
  }

  @Test func `class, score and identity changes are told apart`() throws {
    let base = Samples.box(0, score: 0.5, classIndex: 0, identity: 1)
    func kind(_ actual: ResultFact) throws -> [Finding.Kind] {
      try Samples.findings([[base]], [[actual]]).map(\.kind)
    }
    #expect(try kind(Samples.box(0, score: 0.5, classIndex: 1, identity: 1)) == [.classChanged])
    #expect(try kind(Samples.box(0, score: 0.6, identity: 1)) == [.scoreChanged])
    #expect(try kind(Samples.box(0, score: 0.5, identity: 2)) == [.identityChanged])
    #expect(try kind(Samples.box(0, score: 0.5)) == [.identityChanged])
    #expect(try kind(Samples.box(0, score: 0.5, identity: 1)).isEmpty)
  }

  @Test func `one other number for an object is one finding, a switch another`() throws {
    func frames(_ identities: [Int]) -> [[ResultFact]] {
      identities.enumerated().map { [Samples.box(Double($0) * 3, identity: $1)] }
    }
    let findings = try Samples.findings(
      frames([1, 1, 1, 1, 1, 1]), frames([7, 7, 7, 8, 8, 8]))
    #expect(findings.map(\.kind) == [.identityChanged, .identityChanged])
    #expect(findings.map { $0.frame?.sequence } == [0, 3])
  }

  @Test func `the pair of the frame before is kept where two overlap`() throws {
    // Two objects cross. By overlap alone, they would be swapped in the second frame.
    let golden = [
      [Samples.box(0, identity: 1), Samples.box(20, identity: 2)],
      [Samples.box(9, identity: 1), Samples.box(12, identity: 2)],
    ]
    let actual = [
      [Samples.box(0, identity: 1), Samples.box(20, identity: 2)],
      [Samples.box(12, identity: 1), Samples.box(9, identity: 2)],
    ]
    let findings = try Samples.findings(golden, actual)
    #expect(findings.map(\.kind) == [.boxMoved, .boxMoved])
    #expect(findings.map(\.magnitude) == [3, 3])
  }

  @Test func `tolerances are counted in steps`() throws {
    var rule = SinkRule.standard
    rule.position = 0.3
    rule.score = 0.0001
    func count(_ x: Double, _ score: Double) throws -> Int {
      try Samples.findings([[Samples.box(0)]], [[Samples.box(x, score: score)]], rule).count
    }
    #expect(try count(0.3, 0.5001) == 0)
    #expect(try count(0.4, 0.5) == 1)
    #expect(try count(0, 0.5002) == 1)
  }

  @Test func `headroom says how near the largest error came`() throws {
    var rule = SinkRule.standard
    rule.position = 2
    let outcome = try Samples.compare(
      Samples.frames([[Samples.box(0)], [Samples.box(0)]]),
      Samples.frames([[Samples.box(0.5)], [Samples.box(1)]]), rule)
    let position = try #require(outcome.headroom.first { $0.quantity == "position" })
    #expect(position.largest == 1 && position.allowed == 2 && position.used == 0.5)
    #expect(position.frame?.sequence == 1)
    #expect(outcome.counts.withinTolerance == 2 && outcome.counts.changed == 0)
  }

  @Test func `boxes without a partner are findings once there are too many, then all`() throws {
    var rule = SinkRule.standard
    rule.unmatchedMax = 2
    func outcome(_ missing: Int) throws -> CompareSamples.Outcome {
      let golden = (0..<5).map { _ in [Samples.box(0), Samples.box(50)] }
      var actual = golden
      for index in 0..<missing { actual[index].removeLast() }
      return try Samples.compare(Samples.frames(golden), Samples.frames(actual), rule)
    }
    let within = try outcome(2)
    #expect(within.findings.isEmpty && within.counts.withinTolerance == 2)
    #expect(within.headroom.first { $0.quantity == "unmatched" }?.used == 1)
    let beyond = try outcome(3)
    #expect(beyond.findings.map { $0.frame?.sequence } == [0, 1, 2])
    #expect(beyond.counts.changed == 3 && beyond.counts.withinTolerance == 0)
  }

  @Test func `a frame with another finding is counted once when its held boxes are released`()
    throws
  {
    var rule = SinkRule.standard
    (rule.position, rule.unmatchedMax) = (0.3, 1)
    let golden = Array(repeating: [Samples.box(0), Samples.box(50)], count: 3)
    let outcome = try Samples.compare(
      Samples.frames(golden),
      // Moved, and a box too few; within tolerance; the second box too few.
      Samples.frames([
        [Samples.box(2)], [Samples.box(0.2), Samples.box(50)], [Samples.box(0)],
      ]), rule)
    #expect(outcome.findings.map { $0.frame?.sequence } == [0, 0, 2])
    #expect(outcome.counts.changed == 2 && outcome.counts.withinTolerance == 1)
    #expect(outcome.counts.compared == 3)
  }

  @Test func `a frame is counted once when two sinks release its held boxes`() throws {
    var rule = SinkRule.standard
    rule.unmatchedMax = 1
    let header = Samples.header(["boxes", "heads"])
    func chunks(_ frames: [[ResultFact]]) throws -> [ResultChunk] {
      let both = Samples.frames(frames).map { frame in
        FrameResult(
          id: frame.id, pts: frame.pts,
          outcomes: header.sinks.map {
            SinkOutcome(sink: $0, content: .facts(frames[frame.id.sequence]))
          })
      }
      return try Samples.chunks(both, header: header)
    }
    let full = [Samples.box(0), Samples.box(50)]
    var comparator = ResultComparator(
      golden: header, actual: header, rules: CompareRules(["boxes": rule, "heads": rule]))
    try comparator.compare(
      golden: chunks([full, full, full])[0], actual: chunks([[full[0]], [full[0]], full])[0])
    _ = comparator.finish()
    #expect(comparator.log.count == 4)
    #expect(comparator.counts.changed == 2 && comparator.counts.withinTolerance == 0)
    #expect(comparator.counts.same == 1)
  }

  @Test func `a significant order compares the n-th with the n-th`() throws {
    var rule = SinkRule.standard
    rule.order = .significant
    let findings = try Samples.findings(
      [[Samples.box(0, 0), Samples.box(0, 1)]], [[Samples.box(0, 0.5), Samples.box(0, 1)]], rule)
    #expect(findings.map(\.kind) == [.boxMoved])
  }

  @Test func `every side of a box is compared`() throws {
    let golden = Samples.box(50, 50, 40, 40)
    for moved in [
      Samples.box(52, 50, 40, 40), Samples.box(50, 52, 40, 40), Samples.box(50, 50, 42, 40),
      Samples.box(50, 50, 40, 42), Samples.box(48, 50, 40, 40), Samples.box(50, 50, 40, 38),
    ] {
      let findings = try Samples.findings([[golden]], [[moved]])
      #expect(findings.map(\.kind) == [.boxMoved] && findings[0].magnitude == 2)
    }
  }

  @Test func `boxes that overlap too little are two objects, at the least overlap one`() throws {
    // An overlap of one third, then of exactly one half.
    #expect(
      try Samples.findings([[Samples.box(0)]], [[Samples.box(5)]]).map(\.kind)
        == [.boxDisappeared, .boxAppeared])
    #expect(
      try Samples.findings([[Samples.box(0)]], [[Samples.box(0, 0, 10, 5)]]).map(\.kind)
        == [.boxMoved])
  }

  @Test func `the class weighs more than the overlap`() throws {
    let findings = try Samples.findings(
      [[Samples.box(0, classIndex: 0), Samples.box(3, classIndex: 1)]],
      [[Samples.box(3, classIndex: 0), Samples.box(0, classIndex: 1)]])
    #expect(findings.map(\.kind) == [.boxMoved, .boxMoved])
  }

  @Test func `boxes that changed places within tolerance are paired by their overlap`() throws {
    var rule = SinkRule.standard
    rule.position = 3
    // By the order of their lines each is 2 px away, by overlap 0.1 px.
    let outcome = try Samples.compare(
      Samples.frames([[Samples.box(0, 0), Samples.box(2, 0.1)]]),
      Samples.frames([[Samples.box(2, 0), Samples.box(0, 0.1)]]), rule)
    #expect(outcome.counts.withinTolerance == 1)
    #expect(outcome.headroom.first { $0.quantity == "position" }?.largest == 0.1)
  }

  @Test func `a pair is kept under its new numbers where two overlap`() throws {
    let golden = [
      [Samples.box(0, identity: 1), Samples.box(20, identity: 2)],
      [Samples.box(9, identity: 1), Samples.box(12, identity: 2)],
    ]
    let actual = [
      [Samples.box(0, identity: 7), Samples.box(20, identity: 8)],
      [Samples.box(12, identity: 7), Samples.box(9, identity: 8)],
    ]
    #expect(
      try Samples.findings(golden, actual).map(\.kind)
        == [.identityChanged, .identityChanged, .boxMoved, .boxMoved])
  }

  @Test func `where both are equal for a while another number is news again`() throws {
    let known = [Samples.box(0, identity: 1)]
    let other = [Samples.box(0, identity: 7)]
    // A frame, and complete blocks of 64 frames whose facts are not read.
    for equal in [1, 200] {
      let middle = Array(repeating: known, count: equal)
      let findings = try Samples.findings([known] + middle + [known], [other] + middle + [other])
      #expect(findings.map { $0.frame?.sequence } == [0, equal + 1])
    }
    // Complete blocks only: the object is absent in the frames around them.
    let away = Array(repeating: [ResultFact](), count: 63)
    let block = Array(repeating: known, count: 64)
    let findings = try Samples.findings(
      [known] + away + block + [known], [other] + away + block + [other])
    #expect(findings.map { $0.frame?.sequence } == [0, 128])
  }

  @Test func `what is news about an object does not depend on where blocks end`() throws {
    let (known, other) = ([Samples.box(0, identity: 1)], [Samples.box(0, identity: 7)])
    // The object is away, and another object is equal: a few frames, and complete blocks of 64
    // frames.
    for equal in [1, 62, 63, 64, 200] {
      let middle = Array(repeating: [Samples.box(80, identity: 2)], count: equal)
      let findings = try Samples.findings([known] + middle + [known], [other] + middle + [other])
      #expect(findings.map { $0.frame?.sequence } == [0], "\(equal)")
    }
  }

  @Test func `frames without values are no samples of a drift, wherever blocks end`() throws {
    var rule = SinkRule.standard
    rule.position = 3
    func drift(_ empty: Int) throws -> Double? {
      let away = Array(repeating: [ResultFact](), count: empty)
      func list(_ isActual: Bool) -> [[ResultFact]] {
        // With the empty frames, the first block is equal, and has facts in one frame.
        [[Samples.box(50)]] + away
          + (0..<299).map { [Samples.box(50 + (isActual ? 0.1 * Double($0) / 30 : 0))] }
      }
      return try Samples.findings(list(false), list(true), rule).first { $0.kind == .drift }?
        .magnitude
    }
    let alone = try #require(try drift(0))
    #expect(try drift(63) == alone)
  }

  @Test func `a significant order is the one in which boxes came`() {
    let lines = [0.0, 100].map { x in
      ResultLine.detection(
        DetectionLine(
          Detection(box: Box(x: x, y: 0, width: 10, height: 10), score: 0.5), .default))
    }
    func count(_ order: SinkRule.Order) -> Int {
      var rule = SinkRule.standard
      rule.order = order
      var comparator = FrameComparator(
        sink: "boxes", rule: rule, goldenClasses: ["car"], actualClasses: ["car"])
      return comparator.compare(
        golden: lines, actual: lines.reversed(), frame: FrameID(track: 0, sequence: 0)
      ).count
    }
    #expect(count(.any) == 0 && count(.significant) == 2)
  }

  @Test func `a side that is no number on both is no error beside others`() throws {
    var rule = SinkRule(mode: .numeric)
    rule.score = 0.2
    #expect(
      try Samples.findings(
        [[Samples.box(.nan, score: 0.5)]], [[Samples.box(.nan, score: 0.6)]], rule
      ).isEmpty)
  }

  @Test func `a box at no number equals itself and no other`() throws {
    #expect(try Samples.findings([[Samples.box(.nan)]], [[Samples.box(.nan)]]).isEmpty)
    #expect(try Samples.findings([[Samples.box(0, score: .nan)]], [[Samples.box(0)]]).count == 1)
    #expect(try Samples.findings([[Samples.box(.nan)]], [[Samples.box(0)]]).count == 2)
  }
}
