import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeSensors

/// Two cameras whose clocks are 237 ms and 80 ppm apart: the first clock shows t × (1 + 80 × 10⁻⁶)
/// + 0.237 at a time t of the second.
enum TwoCameras {
  static let offset = 0.237
  static let drift = 80e-6

  static func first(_ second: Double) -> Double { second * (1 + drift) + offset }
  static func second(_ first: Double) -> Double { (first - offset) / (1 + drift) }

  /// Beginnings of sounds and changes of light, in seconds of the first clock.
  static func instants(seed: UInt64, count: Int, over seconds: Double) -> [Double] {
    var numbers = SeededGenerator(seed: seed)
    return (0..<count).map { _ in Double.random(in: 0.5..<seconds - 0.5, using: &numbers) }.sorted()
  }

  /// A world's sound at a time of the first clock: bursts of tones, each with its own pitches.
  struct World {
    private let bursts: [(start: Double, pitches: [Double])]

    init(seed: UInt64, seconds: Double) {
      var numbers = SeededGenerator(seed: seed)
      bursts = instants(seed: seed, count: Int(seconds * 6), over: seconds).map { start in
        (start, (0..<6).map { _ in Double.random(in: 200..<5_000, using: &numbers) })
      }
    }

    /// Samples of a camera that sees the first clock as `time(n)`.
    func sound(count: Int, noise seed: UInt64, time: (Int) -> Double) -> [Float] {
      var numbers = SeededGenerator(seed: seed)
      var next = 0
      return (0..<count).map { index in
        let now = time(index)
        while next < bursts.count, bursts[next].start < now - 0.08 { next += 1 }
        var sum = 0.0
        for burst in bursts[next...] {
          guard burst.start <= now else { break }
          let age = now - burst.start
          for pitch in burst.pitches { sum += Angle(pitch * age).sine * (1 - age / 0.08) }
        }
        return Float(sum / 8 + Double.random(in: -0.02...0.02, using: &numbers))
      }
    }
  }
}

/// Clocks of two cameras, from sound or light that both recorded.
struct AlignmentTests {
  @Test func `a line is fitted through the pairs that agree`() throws {
    var pairs = (0..<40).map { number in
      let second = Double(number) * 1.5
      return ClockPair(first: TwoCameras.first(second), second: second)
    }
    for place in stride(from: 3, to: 40, by: 7) { pairs[place].first += 0.4 }
    let fit = try #require(ClockFit.fitted(pairs, tolerance: 0.001))
    #expect(abs(fit.offsetNanoseconds - 237_000_000) < 1_000)
    #expect(abs(fit.driftPPM - 80) < 0.001)
    #expect(fit.observations == 34 && abs(fit.confidence - 0.85) < 1e-9)
    #expect(fit.time(10_000_000_000) == 10_237_800_000)
    #expect(ClockFit.fitted(Array(pairs.prefix(2)), tolerance: 1) == nil)
  }

  @Test func `the sound of both gives offset and drift`() throws {
    let world = TwoCameras.World(seed: 7, seconds: 24)
    let rate = Double(SoundTrack.rate)
    let count = 22 * SoundTrack.rate
    let one = SoundTrack(
      start: 0, samples: world.sound(count: count, noise: 1) { Double($0) / rate })
    // Its first sample is at 0.1 s of the second camera's clock.
    let two = SoundTrack(
      start: 0.1,
      samples: world.sound(count: count, noise: 2) { TwoCameras.first(0.1 + Double($0) / rate) })
    let fit = try #require(SoundAlignment(one, two).fit())
    #expect(abs(fit.offsetNanoseconds - 237_000_000) < 2_000_000, "\(fit)")
    #expect(abs(fit.driftPPM - 80) < 5, "\(fit)")
    #expect(fit.confidence > 0.5, "\(fit)")
  }

  @Test func `a sound that repeats gives no confidence`() {
    let rate = Double(SoundTrack.rate)
    func track(seed: UInt64, from start: Double) -> SoundTrack {
      var numbers = SeededGenerator(seed: seed)
      return SoundTrack(
        start: 0,
        samples: (0..<20 * SoundTrack.rate).map { index in
          let age = (start + Double(index) / rate).truncatingRemainder(dividingBy: 1)
          let beep = age < 0.08 ? Angle(800 * age).sine * (1 - age / 0.08) : 0
          return Float(beep + Double.random(in: -0.02...0.02, using: &numbers))
        })
    }
    let fit = SoundAlignment(track(seed: 1, from: 0.25), track(seed: 2, from: 1.95)).fit()
    #expect((fit?.confidence ?? 0) < 0.3, "\(String(describing: fit))")
  }

  /// Two consecutive pieces of five seconds: they share no sound, though each fits the other at
  /// every period of the sound.
  private func chapters(
    noise: Double, _ sound: (_ second: Double, _ index: Int) -> Double
  ) -> SoundAlignment {
    func chapter(_ number: Int) -> SoundTrack {
      var numbers = SeededGenerator(seed: UInt64(number))
      let count = 5 * SoundTrack.rate
      return SoundTrack(
        start: 0,
        samples: (0..<count).map { index in
          let place = number * count + index
          return Float(
            sound(Double(place) / Double(SoundTrack.rate), place)
              + Double.random(in: -1...1, using: &numbers) * noise)
        })
    }
    return SoundAlignment(chapter(0), chapter(1))
  }

  @Test(arguments: [(440.0, 0.0), (440, 0.001), (50, 0.0001), (1_000, 0.01), (97.3, 0)])
  func `a tone and a hum fit everywhere, which is said`(pitch: Double, noise: Double) {
    let answer = chapters(noise: noise) { second, _ in Angle(pitch * second).sine * 0.5 }.answer()
    #expect(answer == .repeats)
  }

  /// Each click is the same noise, so the sounds fit only where clicks meet.
  @Test(arguments: [0.5, 1.0, 1.25])
  func `clicks at even distances fit at several places, which is said`(period: Double) {
    var numbers = SeededGenerator(seed: 3)
    let click = (0..<800).map { _ in Double.random(in: -1...1, using: &numbers) }
    let length = Int(period * Double(SoundTrack.rate))
    let answer = chapters(noise: 0.001) { _, place in
      place % length < click.count ? click[place % length] : 0
    }.answer()
    #expect(answer == .repeats)
  }

  @Test func `a hum below a sound that both have does not hide it`() throws {
    let world = TwoCameras.World(seed: 5, seconds: 12)
    let rate = Double(SoundTrack.rate)
    func track(_ start: Double, noise: UInt64) -> SoundTrack {
      let sound = world.sound(count: 9 * SoundTrack.rate, noise: noise) {
        start + Double($0) / rate
      }
      let samples = sound.indices.map {
        sound[$0] + Float(Angle(50 * (start + Double($0) / rate)).sine * 0.1)
      }
      return SoundTrack(start: 0, samples: samples)
    }
    let fit = try #require(SoundAlignment(track(0, noise: 1), track(1.5, noise: 2)).fit())
    #expect(abs(fit.offsetNanoseconds - 1_500_000_000) < 1_000_000, "\(fit)")
    #expect(fit.confidence > 0.5, "\(fit)")
  }

  @Test func `sounds that have nothing in common give no confidence`() {
    let rate = Double(SoundTrack.rate)
    let (one, two) = (
      TwoCameras.World(seed: 7, seconds: 8), TwoCameras.World(seed: 8, seconds: 8)
    )
    let fit = SoundAlignment(
      SoundTrack(
        start: 0, samples: one.sound(count: 6 * 16_000, noise: 1) { Double($0) / rate }),
      SoundTrack(
        start: 0, samples: two.sound(count: 6 * 16_000, noise: 2) { Double($0) / rate })
    ).fit()
    #expect((fit?.confidence ?? 0) < 0.5, "\(String(describing: fit))")
  }

  /// The mean brightness that a camera of 30 frames a second sees of a lamp that is switched at
  /// some instants of the first clock.
  private func levels(
    _ instants: [Double], exposure: Double, frames: Int, time: (Double) -> Double
  ) -> [FlashAlignment.Level] {
    var next = 0
    return (0..<frames).map { frame in
      let own = Double(frame) / 30
      let (start, end) = (time(own), time(own + exposure / 30))
      while next < instants.count, instants[next] <= start { next += 1 }
      // The lamp is on between an odd and the next even instant.
      var (lit, from, number) = (0.0, start, next)
      while number < instants.count, instants[number] < end {
        if number % 2 == 1 { lit += instants[number] - from }
        from = instants[number]
        number += 1
      }
      if number % 2 == 1 { lit += end - from }
      return FlashAlignment.Level(
        time: own, brightness: (40 + 120 * lit / (end - start)).rounded())
    }
  }

  private struct Lights: Sendable, CustomTestStringConvertible {
    var exposure: Double
    var seconds: Int
    var driftMax: Double
    var testDescription: String { "\(exposure) of the time, \(seconds) s" }
  }

  private static let lights = [
    Lights(exposure: 1, seconds: 30, driftMax: 6), Lights(exposure: 1, seconds: 100, driftMax: 2),
    Lights(exposure: 0.5, seconds: 30, driftMax: 30),
    Lights(exposure: 0.5, seconds: 100, driftMax: 15),
    Lights(exposure: 0.25, seconds: 100, driftMax: 20),
  ]

  @Test(arguments: lights)
  private func `lights that both saw give offset and drift`(lights: Lights) throws {
    for seed in 3..<9 {
      // At least a quarter of a second apart, so that each is a separate step.
      var instants: [Double] = []
      for instant in TwoCameras.instants(
        seed: UInt64(seed), count: 4 * lights.seconds, over: Double(lights.seconds))
      where instant - (instants.last ?? 0) > 0.25 { instants.append(instant) }
      let frames = 30 * lights.seconds
      let fit = try #require(
        FlashAlignment(
          levels(instants, exposure: lights.exposure, frames: frames) { $0 },
          levels(instants, exposure: lights.exposure, frames: frames - 10) { TwoCameras.first($0) }
        ).fit())
      #expect(abs(fit.offsetNanoseconds - 237_000_000) < 2_000_000, "\(seed) \(fit)")
      #expect(abs(fit.driftPPM - 80) < lights.driftMax, "\(seed) \(fit)")
      #expect(fit.confidence > 0.5, "\(seed) \(fit)")
    }
  }

  @Test func `frames without a step give nothing`() {
    let flat = (0..<100).map { FlashAlignment.Level(time: Double($0) / 30, brightness: 90) }
    #expect(FlashAlignment(flat, flat).fit() == nil)
    #expect(FlashAlignment([], []).fit() == nil)
  }

  @Test func `sound is brought to 16 kHz without what is above`() throws {
    // 1 kHz stays, 12 kHz at 48,000 samples a second would appear as 4 kHz.
    var resampler = SoundResampler(rate: 48_000)
    let input = (0..<48_000).map { Float(Angle(Double($0) * 1_000 / 48_000).sine) }
    let above = (0..<48_000).map { Float(Angle(Double($0) * 12_000 / 48_000).sine) }
    for start in stride(from: 0, to: input.count, by: 1_000) {
      resampler.take(Array(input[start..<start + 1_000]))
    }
    #expect((15_900...16_000).contains(resampler.output.count))
    for index in 100..<15_000 {
      let wanted = Float(Angle(Double(index) / 16).sine)
      guard abs(resampler.output[index] - wanted) > 0.01 else { continue }
      Issue.record("sample \(index) is \(resampler.output[index]), not \(wanted)")
      break
    }
    var high = SoundResampler(rate: 48_000)
    high.take(above)
    #expect((high.output[100..<15_000].map(abs).max() ?? 1) < 0.01)
  }

  @Test func `a correlation has its peak at the lag`() {
    let transform = FourierTransform(size: 64)
    var a = [Double](repeating: 0, count: 20)
    (a[3], a[4], a[5]) = (1, -2, 0.5)
    let b = [Double](repeating: 0, count: 7) + a
    let found = transform.correlation(of: a, with: b)
    #expect(found.indices.max { found[$0] < found[$1] } == 7)
    #expect(abs(found[7] - 5.25) < 1e-9)
    let back = transform.correlation(of: b, with: a)
    #expect(back.indices.max { back[$0] < back[$1] } == 57)
  }
}
