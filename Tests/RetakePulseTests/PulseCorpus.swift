import Foundation
import RetakeCore
import RetakeTestSupport

/// The specification of a set of pulses: `Tests/Corpora/pulse.json`. Each waveform draws one value
/// of each list, and its rate from a range. All waveforms follow from the seed and are not stored.
struct PulseCorpus: Decodable {
  var v: Int
  var seed: UInt64
  var count: Int
  /// The lowest and the highest rate.
  var beatsPerMinute: [Double]
  var seconds: [Int]
  var framesPerSecond: [Int]
  /// The deviation of each sample's noise; the amplitude of the pulse's fundamental is 1.
  var noise: [Double]
  /// How strongly the light drifts.
  var drift: [Double]
  /// The number of sudden movements, each three to six times as large as the pulse.
  var movements: [Int]
  /// The deviation of a frame's time, as a share of the interval.
  var jitter: [Double]
  /// The share of frames that are missing.
  var dropped: [Double]

  static func read() throws -> PulseCorpus {
    let file = packageRoot.appending(path: "Tests/Corpora/pulse.json")
    return try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
  }

  /// A waveform depends on its index alone, not on earlier waveforms.
  var waveforms: [CorpusPulse] { (0..<count).map { CorpusPulse(self, index: $0) } }
}

/// One pulse as a camera sees it, with its true rate.
struct CorpusPulse {
  var index: Int
  var beatsPerMinute: Double
  var seconds: Int
  var framesPerSecond: Int
  var noise: Double
  var movements: Int
  var dropped: Double
  /// Presentation times in nanoseconds, rising.
  var times: [Int64]
  /// Levels around 100; one percent is the amplitude of the pulse.
  var levels: [Double]

  init(_ corpus: PulseCorpus, index: Int) {
    var draws = Draws(seed: corpus.seed &* 0x1_0000_0001 &+ UInt64(index))
    self.index = index
    beatsPerMinute = draws.uniform(corpus.beatsPerMinute[0], corpus.beatsPerMinute[1])
    seconds = draws.one(of: corpus.seconds)
    framesPerSecond = draws.one(of: corpus.framesPerSecond)
    noise = draws.one(of: corpus.noise)
    let drift = draws.one(of: corpus.drift)
    movements = draws.one(of: corpus.movements)
    let jitter = draws.one(of: corpus.jitter)
    dropped = draws.one(of: corpus.dropped)
    let interval = 1 / Double(framesPerSecond)
    var moments: [Double] = []
    for frame in 0..<seconds * framesPerSecond {
      let moment = Double(frame) * interval + jitter * interval * draws.normal()
      if draws.uniform(0, 1) >= dropped { moments.append(moment) }
    }
    moments.sort()
    var values = [Double](repeating: 0, count: moments.count)
    for (place, moment) in moments.enumerated() {
      values[place] =
        Self.beat(beatsPerMinute / 60 * moment)
        + drift * (4 * moment / Double(seconds) + 1.5 * Angle(0.07 * moment + 0.16).sine)
        + noise * draws.normal()
    }
    for _ in 0..<movements {
      let bump = Bump(&draws, seconds: Double(seconds))
      for (place, moment) in moments.enumerated() { values[place] += bump.value(at: moment) }
    }
    times = moments.map { Int64(($0 * 1e9).rounded()) + 1_000_000_000 }
    levels = values.map { 100 + $0 }
  }

  /// A steep rise, a slower fall and the notch after it: three harmonics.
  private static func beat(_ turns: Double) -> Double {
    Angle(turns).sine + 0.35 * Angle(2 * turns + 0.095).sine + 0.1 * Angle(3 * turns + 0.175).sine
  }
}

/// A sudden movement: nearly a Gaussian condition.
private struct Bump {
  var height: Double
  var center: Double
  var width: Double

  init(_ draws: inout Draws, seconds: Double) {
    center = draws.uniform(1, seconds - 1)
    width = draws.uniform(0.1, 0.4)
    height = draws.uniform(3, 6) * (draws.uniform(0, 1) < 0.5 ? -1 : 1)
  }

  func value(at moment: Double) -> Double {
    let distance = (moment - center) / width
    // (1 + u²/8)⁻⁸ in place of e^(−u²), whose bits differ between C libraries.
    let base = 1 + distance * distance / 8
    let square = base * base
    let fourth = square * square
    return height / (fourth * fourth)
  }
}

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine.
struct Draws {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
    _ = next()
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  mutating func uniform(_ low: Double, _ high: Double) -> Double {
    low + (high - low) * Double(next() >> 11) / 9_007_199_254_740_992
  }

  /// The sum of twelve uniform numbers less six: nearly normal, without the C library's logarithm.
  mutating func normal() -> Double {
    (0..<12).reduce(-6.0) { sum, _ in sum + uniform(0, 1) }
  }

  mutating func one<Value>(of values: [Value]) -> Value {
    values[Int(next() % UInt64(values.count))]
  }
}
