import RetakeCore
import Testing

@testable import RetakeCompare

@Suite struct DecisionTests {
  private func drop(_ sequence: Int, reason: String = "queue", at time: Int64? = nil)
    -> DecisionLine
  {
    DecisionLine(
      time: time ?? Int64(sequence) * 33_000_000, node: "motion",
      frame: FrameID(track: 0, sequence: sequence), kind: .drop,
      details: [.init("reason", reason)])
  }

  private func findings(
    _ golden: [DecisionLine], _ actual: [DecisionLine],
    folds: (golden: [DecisionFold], actual: [DecisionFold]) = ([], [])
  ) -> [Finding] {
    var comparator = DecisionComparator()
    for index in 0..<max(golden.count, actual.count) {
      comparator.add(
        golden: index < golden.count ? golden[index] : nil,
        actual: index < actual.count ? actual[index] : nil)
    }
    for fold in folds.golden { comparator.add(goldenFold: fold) }
    for fold in folds.actual { comparator.add(actualFold: fold) }
    return comparator.finish()
  }

  @Test func `equal decisions are no finding, wherever they stand`() {
    let lines = (0..<20).map { drop($0) }
    #expect(findings(lines, lines).isEmpty)
    #expect(findings(lines, [lines[19]] + lines[0..<19]).isEmpty)
  }

  @Test func `an added and a removed decision shift nothing`() {
    let lines = (0..<10).map { drop($0 * 100) }
    let added = findings(lines, Array(lines[0..<5]) + [drop(450)] + lines[5...])
    #expect(added.map(\.kind) == [.decisionAdded])
    #expect(added[0].message == "drop of frame 0:450 at motion is new")
    let removed = findings(lines, Array(lines[0..<5]) + lines[6...])
    #expect(removed.map(\.message) == ["drop of frame 0:500 at motion is no longer made"])
  }

  @Test func `a decision moves by frames and by time`() {
    let byFrames = findings([drop(12), drop(100)], [drop(14), drop(100)])
    #expect(
      byFrames.map(\.message) == ["drop of frame 0:12 at motion comes 2 frames later (66.000 ms)"])
    #expect(byFrames[0].magnitude == 2)
    let byTime = findings([drop(12)], [drop(12, at: 395_000_000)])
    #expect(byTime.map(\.message) == ["drop of frame 0:12 at motion comes 1.000 ms earlier"])
    #expect(findings([drop(12)], [drop(40)]).map(\.kind) == [.decisionRemoved, .decisionAdded])
  }

  @Test func `another reason is a change`() {
    let findings = findings([drop(12)], [drop(12, reason: "pool")])
    #expect(findings.map(\.kind) == [.decisionChanged])
    #expect(findings[0].actual == "@396000000 motion 0:12 drop reason=pool")
    #expect(
      findings[0].message
        == "drop of frame 0:12 at motion has other details: reason=pool, golden: reason=queue")
  }

  @Test func `decisions about no frame pair in their order`() {
    func throttle(_ time: Int64) -> DecisionLine {
      DecisionLine(time: time, node: "pool", kind: .resize, details: [.init("size", "4")])
    }
    let findings = findings([throttle(1), throttle(2)], [throttle(1), throttle(3)])
    #expect(findings.map(\.kind) == [.decisionMoved] && findings[0].frame == nil)
  }

  private func resize(_ from: Int, _ to: Int, at milliseconds: Int64) -> DecisionLine {
    DecisionLine(
      time: milliseconds * 1_000_000, node: "camera", kind: .resize,
      details: [.init("from", "\(from)"), .init("to", "\(to)")])
  }

  @Test func `one decision about no frame that is gone shifts none of the later ones`() {
    let lines = [(6, 5, 1_500), (5, 4, 2_000), (4, 3, 5_000), (3, 4, 6_000), (4, 5, 6_500)]
      .map { resize($0.0, $0.1, at: $0.2) }
    // Other decisions between them, as in a log.
    func log(_ resizes: [DecisionLine]) -> [DecisionLine] {
      ((0..<300).map { drop($0) } + resizes).sorted { $0.time < $1.time }
    }
    for index in lines.indices {
      var rest = lines
      rest.remove(at: index)
      let removed = findings(log(lines), log(rest))
      #expect(removed.map(\.kind) == [.decisionRemoved])
      #expect(removed.map(\.golden) == [lines[index].description])
      let added = findings(log(rest), log(lines))
      #expect(added.map(\.kind) == [.decisionAdded])
      #expect(added.map(\.actual) == [lines[index].description])
    }
    #expect(
      findings(lines, Array(lines[1...])).map(\.message)
        == ["resize at camera (t = 1.500 s) is no longer made: from=6 to=5"])
  }

  @Test func `decisions about no frame without an equal one pair in their order`() {
    let golden = [resize(6, 5, at: 1_500), resize(5, 4, at: 2_000), resize(4, 3, at: 5_000)]
    let actual = [resize(6, 4, at: 1_500), resize(5, 4, at: 2_000), resize(4, 3, at: 5_250)]
    let found = findings(golden, actual)
    #expect(
      found.map(\.message) == [
        "resize at camera (t = 1.500 s) has other details: from=6 to=4, golden: from=6 to=5",
        "resize at camera (t = 5.000 s) comes 250.000 ms later",
      ])
    #expect(found.map(\.golden) == [golden[0].description, golden[2].description])
  }

  @Test func `pairing takes time in proportion to the lines, also where all have one key`() {
    // More than the window, so that both ways of pairing run; quadratic, it would last minutes.
    let count = DecisionComparator.windowSize + 40_000
    let golden = (0..<count).map { resize(4, 5, at: Int64($0) * 10) }
    #expect(findings(golden, Array(golden[1...])).map(\.kind) == [.decisionRemoved])
    let later = (0..<count).map { resize(4, 5, at: Int64($0) * 10 + 1) }
    let moved = findings(golden, later)
    #expect(moved.count == DecisionComparator.windowSize)
    #expect(
      moved.allSatisfy { $0.kind == .decisionMoved && $0.message.hasSuffix("1.000 ms later") })
    #expect(findings([golden[0]] + golden, golden).map(\.kind) == [.decisionRemoved])
  }

  @Test func `a fold that differs is a finding unless a line explains it`() {
    let fold = DecisionFold(track: 0, first: 0, last: 1_023, count: 9, digest: .zero)
    var other = fold
    other.digest = Digest128(of: "other")
    #expect(findings([], [], folds: ([fold], [fold])).isEmpty)
    #expect(findings([], [], folds: ([fold], [other])).map(\.kind) == [.decisionsDiffer])
    #expect(findings([], [], folds: ([fold], [])).map(\.kind) == [.decisionsDiffer])
    #expect(findings([], [], folds: ([], [fold])).map(\.kind) == [.decisionsDiffer])
    #expect(findings([drop(3)], [], folds: ([fold], [other])).map(\.kind) == [.decisionRemoved])
    #expect(
      findings([drop(3_000)], [], folds: ([fold], [other])).map(\.kind)
        == [.decisionRemoved, .decisionsDiffer])
  }

  @Test func `more differences than the window holds are still differences`() {
    let many = (0..<(DecisionComparator.windowSize + 5)).map { drop($0) }
    let findings = findings(many, [])
    #expect(findings.count == DecisionComparator.windowSize + 1)
    #expect(findings.last?.message == "5 more decisions have no partner")
  }
}
