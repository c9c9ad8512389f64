import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeCompare

@Suite struct LadderTests {
  private typealias Samples = CompareSamples

  private func scalar(_ name: String, _ value: Double) -> ResultFact {
    .scalar(name: name, value: value)
  }

  // MARK: numbers

  @Test func `a relative tolerance is a share of the golden number, and the wider one counts`()
    throws
  {
    var rule = SinkRule(mode: .numeric)
    rule.relative = 0.01
    func count(_ golden: Double, _ actual: Double) throws -> Int {
      try Samples.findings([[scalar("n", golden)]], [[scalar("n", actual)]], rule).count
    }
    #expect(try count(1_000, 1_010) == 0 && count(1_000, 990) == 0)
    #expect(try count(1_000, 1_010.001) == 1)
    #expect(try count(-1_000, -1_010) == 0)
    #expect(try count(0, 0.001) == 1)
    rule.scalar = 0.5
    #expect(try count(1, 1.5) == 0 && count(0, 0.5) == 0)
    #expect(try count(1, 1.501) == 1)
  }

  @Test func `headroom follows the tolerance that counts`() throws {
    var rule = SinkRule(mode: .numeric)
    rule.relative = 0.01
    let outcome = try Samples.compare(
      Samples.frames([[scalar("n", 1_000)], [scalar("n", 10)]]),
      Samples.frames([[scalar("n", 1_004)], [scalar("n", 10.09)]]), rule)
    let row = try #require(outcome.headroom.first { $0.quantity == "scalar" })
    #expect(row.largest == 0.09 && row.allowed == 0.1 && row.frame?.sequence == 1)
  }

  // MARK: labels and texts

  @Test func `another best label is a finding, unless the scores may change the two`() throws {
    func facts(_ red: Double, _ blue: Double) -> [ResultFact] {
      [
        .classification(.init(label: "red", score: red)),
        .classification(.init(label: "blue", score: blue)),
      ]
    }
    var rule = SinkRule(mode: .numeric)
    rule.score = 0.05
    let clear = try Samples.findings([facts(0.9, 0.1)], [facts(0.2, 0.8)], rule)
    #expect(clear.map(\.kind) == [.labelChanged, .scoreChanged, .scoreChanged])
    #expect(clear[0].message == "the best label is blue instead of red")
    #expect(try Samples.findings([facts(0.51, 0.49)], [facts(0.49, 0.51)], rule).isEmpty)
    let gone = try Samples.findings([facts(0.9, 0.1)], [[facts(0.9, 0.1)[1]]], rule)
    #expect(gone.map(\.kind) == [.labelChanged, .factDisappeared])
  }

  @Test func `a text says where it parts`() throws {
    func message(_ golden: String, _ actual: String) throws -> String? {
      try Samples.findings(
        [[.text(name: "plate", text: golden)]], [[.text(name: "plate", text: actual)]]
      ).first?.message
    }
    #expect(
      try message("AB 123", "AB 173")
        == "the text plate differs at character 5: '73' instead of '23'")
    #expect(
      try message("AB", "ABC") == "the text plate differs at character 3: 'C' instead of its end")
    #expect(
      try message("AB", "Ab") == "the text plate differs at character 2: 'b' instead of 'B'")
    #expect(try message("AB", "AB") == nil)
  }

  // MARK: the fast path

  /// The same frames, once read as boxes only and once with a number next to them, which uses the
  /// slow path.
  @Test func `blocks of boxes compare as frame by frame`() throws {
    var random = SeededGenerator(seed: 77)
    for round in 0..<40 {
      var rule = SinkRule.standard
      (rule.position, rule.score, rule.unmatchedMax) = (0.5, 0.01, round % 3)
      rule.iou = [0.5, 0.3, 0][round % 3]
      rule.order = round % 5 == 4 ? .significant : .any
      let golden = (0..<130).map { _ in
        (0..<Int.random(in: 0...5, using: &random)).map { index in
          (
            x: Double.random(in: 0...60, using: &random), y: Double(index) * 6,
            score: Double.random(in: 0...1, using: &random),
            identity: round % 2 == 0 ? index : nil
          )
        }
      }
      let actual = golden.map { boxes in
        boxes.compactMap { box -> (x: Double, y: Double, score: Double, identity: Int?)? in
          let dice = Int.random(in: 0..<200, using: &random)
          if dice == 0 { return nil }
          let large = dice == 1 ? 3.0 : 0.4
          return (
            box.x + Double.random(in: -large...large, using: &random), box.y,
            dice == 2 ? .nan : box.score + 0.003,
            dice == 3 ? box.identity.map { $0 + 9 } : box.identity
          )
        }
      }
      func frames(
        _ list: [[(x: Double, y: Double, score: Double, identity: Int?)]], _ extra: [ResultFact]
      ) -> [FrameResult] {
        Samples.frames(
          list.map { boxes in
            boxes.map { Samples.box($0.x, $0.y, score: $0.score, identity: $0.identity) } + extra
          })
      }
      let quick = try Samples.compare(frames(golden, []), frames(actual, []), rule)
      let extra = [ResultFact.scalar(name: "n", value: 1)]
      let slow = try Samples.compare(frames(golden, extra), frames(actual, extra), rule)
      #expect(quick.findings == slow.findings, "round \(round)")
      #expect(quick.rootCauses == slow.rootCauses)
      #expect(quick.counts.withinTolerance == slow.counts.withinTolerance)
      #expect(quick.counts.changed == slow.counts.changed)
      let rows = { (outcome: CompareSamples.Outcome) in
        outcome.headroom.filter { $0.quantity == "position" || $0.quantity == "score" }
      }
      #expect(rows(quick) == rows(slow))
    }
  }

  // MARK: decisions

  @Test func `a decision names the earlier ones that it follows from`() {
    func line(_ node: String, _ sequence: Int, _ kind: DecisionKind) -> DecisionLine {
      DecisionLine(
        time: Int64(sequence) * 33_000_000, node: node,
        frame: FrameID(track: 0, sequence: sequence), kind: kind)
    }
    var comparator = DecisionComparator()
    for sequence in [12, 40] {
      comparator.add(golden: nil, actual: line("motion", sequence, .drop))
      comparator.add(golden: nil, actual: line("boxes", sequence, .outcome))
    }
    let findings = comparator.finish()
    #expect(
      findings.map(\.because) == [
        [], ["drop of frame 0:12 at motion is new"], ["drop of frame 0:12 at motion is new"],
        ["drop of frame 0:40 at motion is new", "drop of frame 0:12 at motion is new"],
      ])
  }

  @Test func `the cause of a frame is found among many`() {
    var log = CauseLog()
    let rootCauses = (0..<3).map { log.add(RootCause(stage: "s\($0)", why: .outputDiffers)) }
    var expected: [FrameID: Int] = [:]
    var random = SeededGenerator(seed: 5)
    for sequence in 0..<2_000 where Int.random(in: 0..<4, using: &random) > 0 {
      let frame = FrameID(track: sequence % 2, sequence: sequence)
      expected[frame] = rootCauses[sequence / 300 % 3]
      log.set(rootCauses[sequence / 300 % 3], for: frame)
    }
    for sequence in 0..<2_000 {
      for track in 0..<2 {
        let frame = FrameID(track: track, sequence: sequence)
        #expect(log.root(of: frame) == expected[frame])
      }
    }
  }
}
