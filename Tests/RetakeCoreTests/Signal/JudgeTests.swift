import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

/// The mathematics of signals against other people's mathematics: `Tests/Judges/pulse.py`.
@Suite struct JudgeTests {
  /// A computation that the judge repeats: its input, and Retake's result.
  private struct Case: Encodable {
    var rate: Double
    var order = 2
    var red: [Double]
    var green: [Double] = []
    var blue: [Double] = []
    var found: [Double]
  }

  private struct Differences: Decodable {
    var pos: Double
    var chrom: Double
    var band: Double
    var detrend: Double
  }

  private struct Recording: Decodable {
    var rate: Double
    var samples: [Double]
    var beatsPerMinute: Double
  }

  private func ask<Answer: Decodable>(
    _ type: Answer.Type, _ question: String, input: Data? = nil
  ) throws -> Answer {
    let result = try runCommand(
      Judges.python,
      arguments: [packageRoot.appending(path: "Tests/Judges/pulse.py").path, question],
      input: input)
    #expect(result.status == 0, "\(result.stderr)")
    return try JSONDecoder().decode(type, from: result.stdoutBytes)
  }

  /// Skin with a pulse, a light that drifts, and noise.
  private func colors(_ index: Int) -> ColorSignals {
    let rate = [20.0, 24, 25, 30, 60][index % 5]
    let count = Int(rate) * (6 + index % 4)
    func channel(_ level: Double, _ strength: Double) -> [Double] {
      let noise = noise(count, seed: UInt64(1_000 * index) + UInt64(level))
      return (0..<count).map { place in
        let time = Double(place) / rate
        let beat = strength * Angle((0.8 + 0.1 * Double(index)) * time).sine
        return level * (1 + beat + 0.02 * Angle(0.13 * time).cosine) + 0.2 * noise[place]
      }
    }
    return ColorSignals(
      red: channel(180, 0.004), green: channel(120, 0.011), blue: channel(95, 0.007), rate: rate)
  }

  @Test(.enabled(if: Judges.has("numpy, scipy"), "python3 has no numpy and scipy here"))
  func `POS, CHROM, filter and trend are those of the papers' formulas in NumPy`() throws {
    let colors = (0..<20).map(colors)
    func cases(_ found: (ColorSignals) -> [Double]) -> [Case] {
      colors.map {
        Case(rate: $0.rate, red: $0.red, green: $0.green, blue: $0.blue, found: found($0))
      }
    }
    let band = (1...6).flatMap { order in
      colors.map {
        Case(
          rate: $0.rate, order: order, red: $0.red,
          found: BandPass(low: 0.5, high: 4, order: order, rate: $0.rate).filtered($0.red))
      }
    }
    let question = try JSONEncoder().encode([
      "pos": cases { $0.planeOrthogonalToSkin() }, "chrom": cases { $0.chrominance() },
      "band": band, "detrend": cases { SmoothnessPrior(lambda: 100).detrended($0.red) },
    ])
    let worst = try ask(Differences.self, "formulas", input: question)
    #expect(worst.pos < 1e-6)
    #expect(worst.chrom < 1e-6)
    #expect(worst.band < 1e-6)
    #expect(worst.detrend < 1e-9)
  }

  @Test(.enabled(if: Judges.has("heartpy"), "python3 has no heartpy here"))
  func `the rates of HeartPy's recordings are HeartPy's`() throws {
    let recordings = try ask([Recording].self, "heartpy")
    #expect(recordings.count == 3)
    for recording in recordings {
      let rates = windows(of: recording).compactMap { rate(of: $0) }
      #expect(rates.count >= 1)
      #expect(abs(rates.mean - recording.beatsPerMinute) < 1)
    }
  }

  /// Stretches of 10 seconds at 30 samples a second, the default window of `resample`.
  private func windows(of recording: Recording) -> [[Double]] {
    let length = Int(10 * recording.rate)
    return stride(from: 0, through: recording.samples.count - length, by: length).map { start in
      var resampler = Resampler(
        rate: 30, windowNanoseconds: 10_000_000_000, gapNanoseconds: 500_000_000)
      for (index, sample) in recording.samples[start..<start + length].enumerated() {
        resampler.add([sample], at: Int64((Double(index) / recording.rate * 1e9).rounded()))
      }
      return resampler.channels[0]
    }
  }

  private func rate(of samples: [Double]) -> Double? {
    let filtered = BandPass(low: 0.5, high: 4, order: 2, rate: 30)
      .filtered(SmoothnessPrior(lambda: 100).detrended(samples))
    return PulseFinder().estimate(filtered, rate: 30).beatsPerMinute
  }
}
