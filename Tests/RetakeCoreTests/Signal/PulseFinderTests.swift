import RetakeCore
import Testing

@Suite struct PulseFinderTests {
  private let finder = PulseFinder()

  /// A beat with a harmonic, at 30 samples a second.
  private func beats(perMinute: Double, seconds: Int) -> [Double] {
    (0..<30 * seconds).map { index in
      let turns = perMinute / 60 * Double(index) / 30
      return Angle(turns).sine + 0.3 * Angle(2 * turns + 0.1).sine
    }
  }

  private func filtered(_ samples: [Double], rate: Double = 30) -> [Double] {
    BandPass(low: 0.5, high: 4, order: 2, rate: rate)
      .filtered(SmoothnessPrior(lambda: 100).detrended(samples))
  }

  @Test(arguments: [36.0, 45, 60, 72.5, 110, 181, 236])
  func `a clear pulse is found between the bins of its spectrum`(rate: Double) throws {
    for seconds in [10, 30] {
      let estimate = finder.estimate(filtered(beats(perMinute: rate, seconds: seconds)), rate: 30)
      let found = try #require(estimate.beatsPerMinute)
      #expect(abs(found - rate) < 0.6)
      #expect(estimate.quality > 0.85)
    }
  }

  @Test func `a strong harmonic is not taken for the beat, nor the beat for a harmonic`() throws {
    for share in [0.2, 0.6, 0.95] {
      let samples = (0..<600).map { index in
        let turns = 1.1 * Double(index) / 30
        return Angle(turns).sine + share * Angle(2 * turns).sine
      }
      let found = try #require(finder.estimate(samples, rate: 30).beatsPerMinute)
      #expect(abs(found - 66) < 0.5)
    }
  }

  @Test func `of noise alone there is hardly ever a number`() {
    let estimates = (0..<1_000).map { seed in
      finder.estimate(filtered(noise(300, seed: UInt64(seed + 1))), rate: 30)
    }
    #expect(estimates.count { $0.beatsPerMinute != nil } <= 10)
    #expect(estimates.allSatisfy { $0.quality < 0.7 })
  }

  @Test func `of what is no signal nothing is said`() {
    let beats = beats(perMinute: 72, seconds: 10)
    let wrong: [([Double], Double)] = [
      ([], 30), ([1], 30), (Array(repeating: 0, count: 900), 30),
      (Array(repeating: 40.1, count: 900), 30), (beats.map { _ in .nan }, 30),
      (beats.map { $0 * .infinity }, 30), (beats.map { $0 * 1e300 }, 30),
      (Array(beats.prefix(150)), 30), (beats, 0), (beats, .nan), (beats, -30), (beats, .infinity),
      (Array(repeating: 1, count: 40_000), 30), (beats.map { $0 * 1e-12 }, 30),
    ]
    for (samples, rate) in wrong { #expect(finder.estimate(samples, rate: rate) == .none) }
    #expect(finder.estimate(filtered(Array(repeating: 40.1, count: 900)), rate: 30) == .none)
  }

  @Test func `a weak pulse gives its quality, and a number only to those who accept it`() {
    let weak = zip(beats(perMinute: 90, seconds: 20), noise(600)).map { 0.6 * $0 + 2 * $1 }
    let strict = finder.estimate(filtered(weak), rate: 30)
    #expect(strict.beatsPerMinute == nil && (0.2..<0.45).contains(strict.quality))
    var lenient = finder
    lenient.qualityMin = 0.1
    #expect(lenient.estimate(filtered(weak), rate: 30).beatsPerMinute != nil)
  }

  @Test func `a movement does not outweigh all beats, and after a violent one there is no number`()
    throws
  {
    func estimate(movement: Double) -> PulseEstimate {
      var samples = beats(perMinute: 66, seconds: 15)
      for index in 200..<210 { samples[index] += movement }
      return finder.estimate(filtered(samples), rate: 30)
    }
    let found = try #require(estimate(movement: 5).beatsPerMinute)
    #expect(abs(found - 66) < 0.5)
    #expect(estimate(movement: 40).beatsPerMinute == nil)
  }
}

@Suite struct HeartbeatsTests {
  /// A beat as a condition at each of these times, without a mean.
  private func pulse(at beats: [Double], seconds: Double, rate: Double) -> [Double] {
    let samples = (0..<Int(seconds * rate)).map { index in
      beats.reduce(0.0) { sum, beat in
        let distance = (Double(index) / rate - beat) / 0.15
        return sum + 1 / (1 + distance * distance) / (1 + distance * distance)
      }
    }
    let mean = samples.mean
    return samples.map { $0 - mean }
  }

  @Test func `beats are found where they are, between the samples`() {
    let truth = (0..<18).map { 0.5 + 0.8 * Double($0) + 0.03 * Angle(Double($0) / 5).sine }
    let found = Heartbeats(
      in: pulse(at: truth, seconds: 15, rate: 60), rate: 60, beatsPerMinute: 75)
    #expect(found.times.count == 18)
    #expect(zip(found.times, truth).allSatisfy { abs($0 - $1) < 0.003 })
  }

  @Test func `RMSSD and SDNN are those of the definition`() throws {
    let steps = [0.80, 0.84, 0.78, 0.86, 0.80, 0.82, 0.76, 0.88]
    let truth = steps.reduce(into: [0.6]) { $0.append($0[$0.count - 1] + $1) }
    let found = try #require(
      Heartbeats(in: pulse(at: truth, seconds: 8, rate: 120), rate: 120, beatsPerMinute: 73)
        .variability())
    #expect(found.intervalCount == 8)
    #expect(abs(found.meanMilliseconds - 817.5) < 1)
    // √(Σ (steps)² / 7) and √(Σ (from the mean)² / 7), by hand.
    #expect(abs(found.rmssdMilliseconds - 69.69) < 2)
    #expect(abs(found.sdnnMilliseconds - 39.91) < 2)
  }

  @Test func `an interval around a missed beat does not count`() throws {
    var truth = (0..<14).map { 0.5 + 0.8 * Double($0) }
    truth.remove(at: 6)
    let found = try #require(
      Heartbeats(in: pulse(at: truth, seconds: 12, rate: 60), rate: 60, beatsPerMinute: 75)
        .variability())
    #expect(found.intervalCount == 11)
    #expect(abs(found.meanMilliseconds - 800) < 1)
    #expect(found.rmssdMilliseconds < 3 && found.sdnnMilliseconds < 3)
  }

  @Test func `a second peak in a beat is not another beat`() {
    let truth = (0..<10).map { 0.5 + 1.0 * Double($0) }
    let notches = pulse(at: truth.map { $0 + 0.4 }, seconds: 11, rate: 60).map { 0.7 * $0 }
    let samples = zip(pulse(at: truth, seconds: 11, rate: 60), notches).map { $0 + $1 }
    #expect(Heartbeats(in: samples, rate: 60, beatsPerMinute: 60).times.count == 10)
  }

  @Test func `too few beats, and beats without order, have no variability`() {
    func variability(_ samples: [Double]) -> Variability? {
      Heartbeats(in: samples, rate: 30, beatsPerMinute: 70).variability()
    }
    #expect(variability([]) == nil)
    #expect(variability(Array(repeating: 0, count: 600)) == nil)
    #expect(variability(Array(repeating: .nan, count: 600)) == nil)
    #expect(variability(pulse(at: [0.5, 1.3, 2.1], seconds: 3, rate: 30)) == nil)
    let wild = [0.5, 1.6, 2.2, 4.0, 4.7, 6.9, 7.5, 9.4, 10.0]
    #expect(variability(pulse(at: wild, seconds: 11, rate: 30)) == nil)
  }
}
