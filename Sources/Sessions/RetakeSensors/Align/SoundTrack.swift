import RetakeCore
import RetakeMedia

/// The sound of a recording: one channel at 16 kHz, on the recording's own time line.
package struct SoundTrack: Sendable {
  package static let rate = 16_000
  /// Upper bound of the sound that is read: an hour needs 230 MB.
  package static let secondsMax = 3_600

  /// The time of the first sample, in seconds.
  package var start: Double
  package var samples: [Float]

  /// Whether no sample is louder than the noise of rounding to 16 bits.
  package var isSilent: Bool { samples.allSatisfy { abs($0) <= 2 / 32_768 } }

  package init(start: Double, samples: [Float]) {
    (self.start, self.samples) = (start, samples)
  }

  /// Decodes the first audio stream of a file.
  ///
  /// - Throws: `SensorError.unreadable`, also for a file without sound.
  package init(file: String, continues: () -> Bool = { true }) throws {
    do {
      let reader = try AudioReader(path: file)
      var resampler: SoundResampler?
      var first: Double?
      while let piece = try reader.next() {
        if first == nil { first = Double(piece.start?.nanoseconds ?? 0) / 1e9 }
        if resampler == nil { resampler = SoundResampler(rate: piece.rate) }
        guard resampler?.inputRate == piece.rate else { continue }
        resampler?.take(piece.samples)
        if (resampler?.output.count ?? 0) > Self.rate * Self.secondsMax || !continues() { break }
      }
      start = first ?? 0
      samples = resampler?.output ?? []
    } catch let error as MediaError {
      throw SensorError.unreadable(file: file, cause: error.message)
    }
    guard continues() else { throw SensorError.interrupted }
    guard !samples.isEmpty else { throw SensorError.noSamples(file: file) }
  }
}

/// Resamples sound to 16 kHz. A low pass before it keeps frequencies above 8 kHz from appearing
/// below: a windowed sinc of eight periods to either side.
struct SoundResampler {
  let inputRate: Int
  private(set) var output: [Float] = []
  /// Input that a later output still needs.
  private var held: [Float]
  /// The place of `held` in the input, in samples; before 0 there is silence.
  private var heldStart: Int
  private let taps: Int
  private let kernel: [Double]

  /// Steps between two samples of the kernel.
  private static let phases = 512
  private static let periods = 8

  init(rate: Int) {
    inputRate = rate
    let cutoff = min(1, Double(SoundTrack.rate) / Double(rate))
    let taps = Int((Double(Self.periods) / cutoff).rounded(.up))
    self.taps = taps
    held = [Float](repeating: 0, count: taps)
    heldStart = -taps
    kernel = (0...taps * Self.phases).map { step in
      let x = Double(step) / Double(Self.phases)
      // Blackman's window.
      let turn = (x / Double(taps) + 1) / 2
      let window = 0.42 - 0.5 * Angle(turn).cosine + 0.08 * Angle(2 * turn).cosine
      let sinc = x == 0 ? 1 : Angle(cutoff * x / 2).sine / (.pi * cutoff * x)
      return cutoff * sinc * max(0, window)
    }
  }

  mutating func take(_ samples: [Float]) {
    held += samples
    let end = heldStart + held.count
    // Ends: each round makes one sample, and needs later input than the round before.
    while true {
      let position = Double(output.count) * Double(inputRate) / Double(SoundTrack.rate)
      let middle = Int(position)
      guard middle + taps + 1 < end else { break }
      output.append(sample(at: position, middle))
    }
    let next = Int(Double(output.count) * Double(inputRate) / Double(SoundTrack.rate)) - taps - 1
    let past = min(held.count, max(0, next - heldStart))
    if past > 1 << 16 {
      held.removeFirst(past)
      heldStart += past
    }
  }

  private func sample(at position: Double, _ middle: Int) -> Float {
    var sum = 0.0
    for place in (middle - taps + 1)...(middle + taps) {
      let index = place - heldStart
      guard held.indices.contains(index) else { continue }
      let distance = abs(Double(place) - position) * Double(Self.phases)
      let step = Int(distance)
      guard step + 1 < kernel.count else { continue }
      let part = distance - Double(step)
      sum += Double(held[index]) * (kernel[step] + part * (kernel[step + 1] - kernel[step]))
    }
    return Float(sum)
  }
}
