import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeCompare

@Suite struct FactTests {
  private typealias Samples = CompareSamples

  private func numeric(_ scalar: Double = 0, score: Double = 0) -> SinkRule {
    var rule = SinkRule(mode: .numeric)
    rule.scalar = scalar
    rule.score = score
    return rule
  }

  private func scalar(_ name: String, _ value: Double) -> ResultFact {
    .scalar(name: name, value: value)
  }

  private func kinds(
    _ golden: [ResultFact], _ actual: [ResultFact], _ rule: SinkRule = SinkRule(mode: .numeric)
  ) throws -> [Finding.Kind] {
    try Samples.findings([golden], [actual], rule).map(\.kind)
  }

  @Test func `numbers are compared with an absolute tolerance, and 0 is one`() throws {
    #expect(try kinds([scalar("n", 1)], [scalar("n", 1.001)]) == [.numberChanged])
    #expect(try kinds([scalar("n", 1)], [scalar("n", 1.001)], numeric(0.001)).isEmpty)
    #expect(try kinds([scalar("n", 1)], [scalar("n", 1.002)], numeric(0.001)) == [.numberChanged])
    #expect(try kinds([scalar("n", 1)], [scalar("n", 1.0004)]).isEmpty)
  }

  @Test func `a change from zero is seen`() throws {
    let findings = try Samples.findings([[scalar("n", 0)]], [[scalar("n", 5)]], numeric(1))
    #expect(findings.map(\.kind) == [.numberChanged] && findings[0].magnitude == 5)
    #expect(findings[0].allowed == 1 && findings[0].message == "n differs by 5.000")
  }

  @Test func `NaN equals NaN and nothing else whatever is allowed`() throws {
    #expect(try kinds([scalar("n", .nan)], [scalar("n", .nan)]).isEmpty)
    #expect(try kinds([scalar("n", .nan)], [scalar("n", 1)], numeric(1e9)) == [.numberChanged])
    #expect(try kinds([scalar("n", 1)], [scalar("n", .nan)], numeric(1e9)) == [.numberChanged])
    #expect(try kinds([scalar("n", .infinity)], [scalar("n", .infinity)]).isEmpty)
    #expect(
      try kinds([scalar("n", .infinity)], [scalar("n", -.infinity)], numeric(1e9))
        == [.numberChanged])
  }

  @Test func `NaN equals NaN beside a number that differs within tolerance`() throws {
    #expect(
      try kinds(
        [scalar("a", .nan), scalar("b", 1)], [scalar("a", .nan), scalar("b", 2)], numeric(5)
      ).isEmpty)
  }

  @Test func `negative zero is zero`() throws {
    let outcome = try Samples.compare(
      Samples.frames([[scalar("n", -0.0)]]), Samples.frames([[scalar("n", 0)]]))
    #expect(outcome.counts.same == 1 && outcome.findings.isEmpty)
  }

  @Test func `an added fact shifts nothing`() throws {
    let golden = [scalar("a", 1), scalar("b", 2), scalar("c", 3)]
    var actual = golden
    actual.insert(scalar("x", 9), at: 1)
    #expect(try kinds(golden, actual) == [.factAppeared])
    #expect(try kinds(actual, golden) == [.factDisappeared])
  }

  @Test func `lengths are compared`() throws {
    func wave(_ samples: [Double]) -> [ResultFact] {
      [.waveform(Waveform(name: "pulse", rate: 30, samples: samples))]
    }
    let findings = try Samples.findings([wave([1, 2, 3])], [wave([1, 2])], numeric(10))
    #expect(findings.map(\.message) == ["pulse has 2 samples instead of 3"])
    #expect(try kinds(wave([1, 2]), wave([1, 2.5]), numeric(0.5)).isEmpty)
    let worst = try Samples.findings([wave([1, 2, 3])], [wave([1.1, 2.7, 3])], numeric(0.5))
    #expect(worst.map(\.magnitude) == [0.7])
  }

  @Test func `pictures, tensors, texts and own values are the same or not`() throws {
    func facts(_ seed: String) -> [ResultFact] {
      let digest = Digest128(of: seed)
      return [
        .frame(
          FramePrint(
            width: 4, height: 4, format: "GRAY8", range: "full", matrix: "bt709", digest: digest)),
        .tensor(type: "f32", shape: [2], digest: digest), .text(name: "plate", text: seed),
        .user(kind: "own", digest: digest),
      ]
    }
    #expect(try kinds(facts("a"), facts("a")).isEmpty)
    let findings = try Samples.findings([facts("a")], [facts("b")])
    #expect(findings.map(\.kind) == [.pictureChanged, .factChanged, .textChanged, .factChanged])
    #expect(
      findings.map(\.message) == [
        "the image differs by its digest (mode boxes)", "the tensor differs",
        "the text plate differs at character 1: 'b' instead of 'a'", "the value own differs",
      ])
  }

  @Test func `labels follow their box`() throws {
    func box(_ x: Double, _ score: Double) -> ResultFact {
      Samples.box(x, classes: [Classification(label: "red", score: score)])
    }
    // A new box before the others changes their indices.
    let findings = try Samples.findings(
      [[box(100, 0.9)]], [[box(0, 0.1), box(100, 0.8)]])
    #expect(findings.map(\.kind) == [.boxAppeared, .scoreChanged])
    #expect(findings[1].magnitude == 0.1 && findings[1].message.contains("red"))
  }

  @Test func `exact allows nothing, not even another order`() throws {
    let exact = SinkRule(mode: .exact)
    #expect(try kinds([scalar("a", 1)], [scalar("a", 1.001)], exact) == [.numberChanged])
    let (a, b) = (scalar("a", 1), scalar("b", 2))
    #expect(try kinds([a, b], [b, a], exact) == [.factChanged])
    #expect(try kinds([a, b], [b, a]).isEmpty)
  }

  @Test func `drift is an error that creeps`() throws {
    func frames(_ error: (Int) -> Double) -> [FrameResult] {
      Samples.frames((0..<3_000).map { [scalar("n", 100 + error($0))] })
    }
    var rule = numeric(1)
    let golden = frames { _ in 0 }
    let creeping = frames { Double($0) / 3_000 }
    let findings = try Samples.compare(golden, creeping, rule).findings
    #expect(findings.map(\.kind) == [.drift] && findings[0].allowed == 0)
    rule.driftPer1000 = 0.5
    let outcome = try Samples.compare(golden, creeping, rule)
    #expect(outcome.findings.isEmpty)
    #expect(outcome.headroom.contains { $0.quantity == "drift" && $0.allowed == 0.5 })
    rule.driftPer1000 = 0
    let single = frames { $0 == 1_500 ? 0.4 : 0 }
    #expect(try Samples.compare(golden, single, rule).findings.isEmpty)
  }

  @Test func `sinks and classes that come and go are findings`() throws {
    let two = CompareSamples.header(["boxes", "levels"])
    let frames = Samples.frames([[Samples.box(0)]])
    var more = frames
    more[0].outcomes.append(SinkOutcome(sink: "levels", content: .facts([scalar("n", 1)])))
    let added = try Samples.compare(frames, more, actualHeader: two)
    #expect(added.findings.map(\.kind) == [.sinkAdded] && added.counts.same == 1)
    let removed = try Samples.compare(more, frames, header: two, actualHeader: Samples.header())
    #expect(removed.findings.map(\.kind) == [.sinkRemoved])
    var other = Samples.header()
    other.classes = [["car", "van"]]
    let classes = try Samples.compare(frames, frames, actualHeader: other)
    #expect(classes.findings.map(\.kind) == [.classesChanged])
    #expect(classes.findings[0].message == "the classes of boxes are car, van instead of car, bus")
  }

  @Test func `one end at several sinks is one finding`() throws {
    let header = CompareSamples.header(["boxes", "levels"])
    func frame(_ content: SinkOutcome.Content) -> [FrameResult] {
      [
        FrameResult(
          id: FrameID(track: 0, sequence: 0), pts: 0,
          outcomes: ["boxes", "levels"].map { SinkOutcome(sink: $0, content: content) })
      ]
    }
    let outcome = try Samples.compare(
      frame(.facts([])), frame(.ended(.failed(code: "own.bad"), node: "grey")), header: header)
    #expect(
      outcome.findings.map(\.message) == ["frame 0:0: fail (own.bad) at grey, golden: delivered"])
  }

  @Test func `a frame that is delivered where the golden dropped it is a finding, and the reverse`()
    throws
  {
    func frames(_ content: SinkOutcome.Content) -> [FrameResult] {
      var frames = Samples.frames([[]])
      frames[0].outcomes[0].content = content
      return frames
    }
    let (delivered, dropped) = (
      frames(.facts([scalar("n", 1)])), frames(.ended(.dropped(.queue), node: "motion"))
    )
    #expect(
      try Samples.compare(dropped, delivered).findings.map(\.message)
        == ["frame 0:0: delivered, golden: drop (queue) at motion"])
    #expect(
      try Samples.compare(delivered, dropped).findings.map(\.message)
        == ["frame 0:0: drop (queue) at motion, golden: delivered"])
  }

  @Test(arguments: [0.0, 0.2])
  func `frames that wait for their partner are not passed by`(_ error: Double) throws {
    var rule = SinkRule.standard
    rule.position = 0.5
    let all = Samples.frames((0..<300).map { [Samples.box(Double($0 % 50))] })
    let shifted = Samples.frames((0..<300).map { [Samples.box(Double($0 % 50) + error)] })
    // Frame 64 waits at the end of the golden's first block; the second blocks have the same
    // frames.
    let golden = all.filter { $0.id.sequence != 10 }
    let actual = shifted.filter { $0.id.sequence != 64 && $0.id.sequence != 129 }
    let findings = try Samples.compare(golden, actual, rule).findings
    #expect(findings.map(\.kind) == [.frameInserted, .frameLost, .frameLost])
    #expect(findings.map { $0.frame?.sequence } == [10, 64, 129])
    #expect(findings.map(\.frameCount) == [1, 1, 1])
  }

  @Test func `a presentation time that changed is a finding`() throws {
    let golden = Samples.frames([[], []])
    var actual = golden
    actual[1].pts = 41
    #expect(try Samples.compare(golden, actual).findings.map(\.kind) == [.timeChanged])
  }

  @Test func `times of two sessions are compared from the start of each run`() throws {
    let golden = Samples.frames([[], [], []])
    let header = ResultHeader(
      key: "copy/motion", tracks: [.init(0, TimeBase(1, 1_000_000_000))], sinks: ["boxes"],
      classes: ["boxes": ["car", "bus"]])
    var actual = golden
    for index in actual.indices { actual[index].pts = Int64(index) * 40_000_000 + 5_000 }
    func messages() throws -> [String] {
      try Samples.compare(
        golden, actual, actualHeader: header, actualTimes: RunTimes(header, origin: 5_000)
      ).findings.map(\.message)
    }
    #expect(try messages().isEmpty)
    actual[1].pts = 41_005_000
    actual[2].pts = nil
    #expect(
      try messages() == [
        "the frame comes 41000000 ns after the run's start instead of "
          + "40000000 ns after the run's start",
        "the frame comes without a time instead of 80000000 ns after the run's start",
      ])
  }

  @Test func `any frames that are missing are found and shift nothing`() throws {
    var random = SeededGenerator(seed: 21)
    for _ in 0..<40 {
      let all = Samples.frames((0..<400).map { [scalar("n", Double($0))] })
      let golden = all.filter { _ in Int.random(in: 0..<20, using: &random) > 0 }
      let actual = all.filter { _ in Int.random(in: 0..<20, using: &random) > 0 }
      let mine = Set(golden.map(\.id))
      let theirs = Set(actual.map(\.id))
      let outcome = try Samples.compare(golden, actual)
      #expect(outcome.counts.missing == mine.subtracting(theirs).count)
      #expect(outcome.counts.inserted == theirs.subtracting(mine).count)
      #expect(outcome.counts.same == mine.intersection(theirs).count)
      #expect(outcome.findings.allSatisfy { $0.kind == .frameLost || $0.kind == .frameInserted })
      #expect(
        outcome.findings.reduce(0) { $0 + $1.frameCount }
          == outcome.counts.missing + outcome.counts.inserted)
    }
  }

  @Test func `findings beyond the limit are counted`() {
    var log = FindingLog(limit: 10)
    for sequence in 0..<25 {
      log.add(
        Finding(.boxMoved, frame: FrameID(track: 0, sequence: sequence), node: "s", message: ""))
    }
    #expect(log.findings.count == 10 && log.count == 25)
    #expect(
      log.sorted().rootCauses.map(\.findings) == [25] && log.sorted().rootCauses[0].downstream == 24
    )
  }
}
