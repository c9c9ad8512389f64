import RetakeCore
import RetakeGraph
import RetakePulse
import RetakeStages
import RetakeTestFrames
import Testing

/// 400 pulses with known rates through every stage from `resample` to `pulse-rate`.
@Suite struct PulseCorpusTests {
  /// The answer of the chain to a pulse of the corpus.
  private struct Answer {
    var pulse: CorpusPulse
    var found: Double?
    var quality: Double

    var error: Double? { found.map { abs($0 - pulse.beatsPerMinute) } }
  }

  /// Where the resampler has its times from.
  private enum Times {
    case presentation
    /// The times that a tool assumes if it counts frames: the bug of this field.
    case constantRate
  }

  private func answer(_ pulse: CorpusPulse, times: Times = .presentation) throws -> Answer {
    var resample = try Resample(options: ResampleOptions(windowSeconds: 30))
    var window = SignalWindow(waveforms: [], end: nil, began: "start")
    for (frame, level) in pulse.levels.enumerated() {
      let time =
        switch times {
        case .presentation: pulse.times[frame]
        case .constantRate: Int64(frame) * 1_000_000_000 / Int64(pulse.framesPerSecond)
        }
      window = resample.process(
        Scalars([.init("green", level)]),
        StageContext(
          frame: FrameID(track: 0, sequence: frame), timestamp: Timestamp(nanoseconds: time)))
    }
    let signal = try PulseSignal(options: PulseSignalOptions()).process(window, anyContext)
    let level = try Detrend(options: DetrendOptions()).process(signal, anyContext)
    let band = try Bandpass(options: BandpassOptions()).process(level, anyContext)
    let rate = try PulseRate(options: PulseRateOptions()).process(band, anyContext)
    return Answer(pulse: pulse, found: rate["bpm"], quality: try #require(rate["quality"]))
  }

  private func describe(_ answers: [Answer]) -> String {
    let wrong = answers.filter { ($0.error ?? 0) > 3 }
    // The typical errors are named: half and double the true rate.
    let half = wrong.count { abs(2 * ($0.found ?? 0) - $0.pulse.beatsPerMinute) < 3 }
    let double = wrong.count { abs(($0.found ?? 0) / 2 - $0.pulse.beatsPerMinute) < 3 }
    return "\(wrong.count) of \(answers.count) are wrong, \(half) by half and \(double) by double: "
      + "\(wrong.prefix(5).map { "\($0.pulse.index): \($0.pulse.beatsPerMinute)" })"
  }

  private func meanError(_ answers: [Answer]) -> Double {
    let errors = answers.compactMap(\.error)
    return errors.reduce(0, +) / Double(errors.count)
  }

  @Test func `the corpus is the one that was specified`() throws {
    let corpus = try PulseCorpus.read()
    let pulses = corpus.waveforms
    #expect(corpus.v == 1 && pulses.count == 400)
    #expect(pulses.allSatisfy { (30...240).contains($0.beatsPerMinute) })
    #expect(Set(pulses.map { Int($0.beatsPerMinute) / 30 }).count == 7)
    #expect(Set(pulses.map(\.framesPerSecond)) == [24, 30, 60])
    #expect(pulses.allSatisfy { zip($0.times.dropFirst(), $0.times).allSatisfy { $0 >= $1 } })
    #expect(pulses.count { $0.dropped == 0.1 } > 50 && pulses.count { $0.movements > 0 } > 100)
    // FNV-1a over the bits of every rate, time and level.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for pulse in pulses {
      let words = pulse.times.map { UInt64(bitPattern: $0) } + pulse.levels.map(\.bitPattern)
      for word in [pulse.beatsPerMinute.bitPattern] + words {
        hash = (hash ^ word) &* 0x100_0000_01b3
      }
    }
    #expect(hash == 0x553d_8daf_3109_22e9)
  }

  @Test func `400 pulses are found with a mean error below half a beat a minute`() throws {
    let answers = try PulseCorpus.read().waveforms.map { try answer($0) }
    let errors = answers.compactMap(\.error)
    #expect(meanError(answers) <= 0.5)
    // Most get a number: a gate that refuses everything would make no error.
    #expect(errors.count >= 370)
    let calm = answers.filter { $0.pulse.noise <= 0.5 }
    #expect(!calm.contains { ($0.error ?? 0) > 3 }, "\(describe(calm))")
    let noisy = answers.filter { $0.pulse.noise > 0.5 }
    #expect(50 * noisy.count { ($0.error ?? 0) > 3 } <= noisy.count, "\(describe(noisy))")
    #expect(answers.allSatisfy { (0...1).contains($0.quality) })
  }

  @Test func `a tenth of the frames may be missing`() throws {
    let answers = try PulseCorpus.read().waveforms.filter { $0.dropped == 0.1 }
      .map { try answer($0) }
    #expect(answers.count > 50)
    #expect(meanError(answers) <= 0.5)
    #expect(!answers.contains { ($0.error ?? 0) > 3 }, "\(describe(answers))")
  }

  @Test func `a resampler that counts frames would fail`() throws {
    let answers = try PulseCorpus.read().waveforms.filter { $0.dropped == 0.1 }
      .map { try answer($0, times: .constantRate) }
    #expect(meanError(answers) > 5)
    let found = answers.compactMap(\.error)
    #expect(found.count { $0 > 3 } > found.count * 9 / 10)
  }
}
