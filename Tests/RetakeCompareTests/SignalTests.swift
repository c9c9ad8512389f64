import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeCompare

/// Numbers over time: waveforms, series of scalars, and errors that drift.
@Suite struct SignalTests {
  private typealias Samples = CompareSamples

  private func scalar(_ name: String, _ value: Double) -> ResultFact {
    .scalar(name: name, value: value)
  }

  // MARK: waveforms

  /// numpy: a = sin(0.3 i), b = 0.9 sin(0.3 (i - 3)) + 0.05, i = 0…79.
  @Test func `RMS, correlation and lag are those of numpy`() {
    let golden = (0..<80).map { sin(0.3 * Double($0)) }
    let actual = (0..<80).map { 0.9 * sin(0.3 * (Double($0) - 3)) + 0.05 }
    let found = SignalDifference(golden: golden, actual: actual, reach: 10)
    #expect(abs(found.rms - 0.600103521501282) < 1e-9)
    #expect(abs(found.correlation - 0.604359106570226) < 1e-9)
    #expect(found.lag == 3)
    #expect(abs(found.rmsAtLag - 0.08176150417464466) < 1e-9)
    #expect(abs(found.correlationAtLag - 1) < 1e-9)
  }

  @Test func `equal and constant signals have no lag`() {
    let wave = (0..<40).map { Double($0 % 7) }
    let same = SignalDifference(golden: wave, actual: wave)
    #expect(same.rms == 0 && same.lag == 0 && !same.isShifted && same.correlation == 1)
    let flat = SignalDifference(golden: [1, 1, 1], actual: [2, 2, 2])
    #expect(flat.rms == 1 && flat.correlation == 1 && flat.lag == 0)
    #expect(SignalDifference(golden: [1, 1, 1], actual: [1, 2, 3]).correlation == 0)
    #expect(SignalDifference(golden: [], actual: []).rms == 0)
  }

  @Test func `a waveform that comes later may be allowed`() throws {
    func wave(_ lag: Double) -> [ResultFact] {
      [
        .waveform(
          Waveform(
            name: "red", rate: 30, samples: (0..<60).map { 100 * sin(0.3 * (Double($0) - lag)) }))
      ]
    }
    let strict = try Samples.findings([wave(0)], [wave(2)], SinkRule(mode: .numeric))
    #expect(strict.map(\.kind) == [.waveformChanged])
    #expect(strict[0].message.hasSuffix(", 2 samples (66.7 ms) later"))
    var rule = SinkRule(mode: .numeric)
    (rule.lagMax, rule.rmsMax) = (2, 0.01)
    #expect(try Samples.findings([wave(0)], [wave(2)], rule).isEmpty)
    #expect(try Samples.findings([wave(0)], [wave(-3)], rule).count == 1)
  }

  @Test func `scalars that come some frames later are told`() throws {
    func frames(_ lag: Int) -> [FrameResult] {
      Samples.frames((0..<80).map { [scalar("red", (100 * sin(0.4 * Double($0 - lag))))] })
    }
    var comparator = ResultComparator(
      golden: Samples.header(), actual: Samples.header(),
      rules: CompareRules(["boxes": SinkRule(mode: .numeric)]))
    try comparator.compare(
      golden: Samples.chunks(frames(0))[0], actual: Samples.chunks(frames(3))[0])
    _ = comparator.finish()
    #expect(comparator.notes == ["boxes: red is the golden's, 3 frames later"])
  }

  @Test func `a lag is tried up to the reach, and no farther`() {
    let golden = (0..<80).map { sin(0.3 * Double($0)) + sin(0.11 * Double($0)) }
    func actual(_ lag: Int) -> [Double] {
      (0..<80).map { sin(0.3 * Double($0 - lag)) + sin(0.11 * Double($0 - lag)) }
    }
    for lag in [-3, -1, 1, 3] {
      let found = SignalDifference(golden: golden, actual: actual(lag), reach: 3)
      #expect(found.lag == lag && found.isShifted, "\(lag)")
    }
    #expect(!SignalDifference(golden: golden, actual: actual(4), reach: 3).isShifted)
  }

  @Test func `the shape of a waveform has limits of its own`() throws {
    func wave(_ value: (Double) -> Double) -> [ResultFact] {
      [.waveform(Waveform(name: "red", rate: 30, samples: (0..<60).map { value(Double($0)) }))]
    }
    func count(_ rule: SinkRule, _ value: (Double) -> Double) throws -> Int {
      try Samples.findings([wave { sin(0.3 * $0) }], [wave(value)], rule).count
    }
    var size = SinkRule(mode: .numeric)
    size.rmsMax = 0.5
    #expect(try count(size) { sin(0.3 * $0) + 0.4 } == 0)
    #expect(try count(size) { sin(0.3 * $0) + 1 } == 1)
    // Any amplitude, but the same shape.
    var shape = SinkRule(mode: .numeric)
    (shape.correlationMin, shape.lagMax) = (0.95, 64)
    #expect(try count(shape) { 3 * sin(0.3 * $0) } == 0)
    #expect(try count(shape) { sin(0.3 * $0) + sin(1.1 * $0) } == 1)
  }

  @Test func `a lag is told of the frames up to where both are equal for long`() throws {
    func frames(_ value: (Int) -> Double) -> [FrameResult] {
      Samples.frames((0..<192).map { [scalar("red", value($0))] })
    }
    let golden = { (frame: Int) in 100 * sin(0.4 * Double(frame)) }
    var comparator = ResultComparator(
      golden: Samples.header(), actual: Samples.header(),
      rules: CompareRules(["boxes": SinkRule(mode: .numeric)]))
    try comparator.compare(
      golden: Samples.chunks(frames(golden))[0],
      // Late in the first block, equal in the second, unrelated in the third.
      actual: Samples.chunks(
        frames { $0 < 64 ? golden($0 - 3) : $0 < 128 ? golden($0) : Double($0 * $0 % 97) })[0])
    _ = comparator.finish()
    #expect(comparator.notes == ["boxes: red is the golden's, 3 frames later"])
  }

  // MARK: drift

  private func drift(_ error: (Int) -> Double, frames: Int = 300) throws -> [Finding] {
    var rule = SinkRule.standard
    rule.position = 3
    func list(_ isActual: Bool) -> [FrameResult] {
      Samples.frames(
        (0..<frames).map { [Samples.box(50 + (isActual ? error($0) : 0)), Samples.box(90)] })
    }
    return try Samples.compare(list(false), list(true), rule).findings
  }

  @Test func `0.1 px a second is a drift though each error is allowed`() throws {
    let findings = try drift { 0.1 * Double($0) / 30 }
    #expect(findings.map(\.kind) == [.drift])
    // The mean of the two boxes. The first error that is not rounded away is 0.05 px.
    #expect(abs(try #require(findings[0].magnitude) - 1.667) < 0.05)
    #expect(findings[0].frame?.sequence == 16)
  }

  @Test func `the errors of boxes and scalars drift apart from each other`() throws {
    var rule = SinkRule.standard
    (rule.position, rule.scalar) = (3, 3)
    func frames(_ error: Double) -> [FrameResult] {
      Samples.frames(
        (0..<300).map {
          // Together, the two signed errors would be about 0.
          let own = error * Double($0) / 30
          return [Samples.box(50 + own), scalar("n", 50 - own)]
        })
    }
    let findings = try Samples.compare(frames(0), frames(0.1), rule).findings
    #expect(findings.map(\.kind) == [.drift])
    #expect(abs(try #require(findings[0].magnitude) - 3.333) < 0.1)
  }

  @Test func `steps, single errors, noise and constants are no drift`() throws {
    #expect(try drift { $0 < 150 ? 0 : 1 }.isEmpty)
    #expect(try drift { $0 == 150 ? 2 : 0 }.isEmpty)
    #expect(try drift { _ in 1.5 }.isEmpty)
    #expect(try drift { $0 < 100 ? 0 : ($0 < 200 ? 1 : 0.3) }.isEmpty)
    for seed in 0..<50 as Range<UInt64> {
      var random = SeededGenerator(seed: seed)
      let noise = (0..<300).map { _ in Double.random(in: -2...2, using: &random) }
      #expect(try drift { noise[$0] }.isEmpty, "\(seed)")
    }
  }

  @Test func `errors beyond the tolerance are findings of their own and no drift`() throws {
    let findings = try drift { Double($0) / 92 }
    #expect(!findings.isEmpty && findings.allSatisfy { $0.kind == .boxMoved })
  }

  @Test func `equal frames count for a drift, and errors keep their signs`() throws {
    var rule = SinkRule(mode: .numeric)
    rule.scalar = 10
    func findings(_ error: (Int) -> Double) throws -> [Finding] {
      func frames(_ error: (Int) -> Double) -> [FrameResult] {
        Samples.frames((0..<300).map { [scalar("n", 50 + error($0))] })
      }
      return try Samples.compare(frames { _ in 0 }, frames(error), rule).findings
    }
    // Every other frame is equal, which halves the drift.
    let half = try findings { $0 % 2 == 0 ? 0.01 * Double($0) : 0 }
    #expect(half.map(\.kind) == [.drift])
    #expect(abs(try #require(half[0].magnitude) - 5) < 0.2)
    #expect(try findings { ($0 % 2 == 0 ? 0.01 : -0.01) * Double($0) }.isEmpty)
  }
}
