import RetakeCore
import RetakeMedia

/// Sound as a waveform of 10 ms steps: the least, the greatest and the root mean square value of all
/// samples and channels in each, as parts of full scale.
///
/// The time of a step is its end, so that a stage that reads by time hears no sound from after its
/// frame. Sums are integers, and division and root are rounded as IEEE 754 demands: the same sound
/// makes the same bits on every machine.
struct SoundWaveform {
  /// One step.
  struct Step: Hashable {
    /// The end of the step on the file's time line.
    var nanoseconds: Int64
    /// The least, the greatest and the root mean square value.
    var values: [Double]
  }

  static let channels = ["least", "greatest", "rms"]
  static let stepsPerSecond = 100
  /// Rates at which a step has at least a few samples, and no more than any device has.
  static let rates = 1_000...1_000_000

  /// A file's times may be rounded to milliseconds; a longer distance is a gap.
  private static let gapNanoseconds: Int64 = 10_000_000
  /// No file's sound begins later; a time beyond is damage.
  private static let timesMax: Int128 = 1 << 60
  private static let second: Int128 = 1_000_000_000

  /// A stretch of sound without a gap.
  private struct Run {
    var start: Int64
    var rate: Int
    /// Samples of each channel so far.
    var count = 0

    /// The time after the last sample, to the nearest nanosecond.
    var end: Int64 { time(count) }

    func time(_ count: Int) -> Int64 {
      start + Int64(divideToNearest(Int128(count) * SoundWaveform.second, by: Int128(rate)))
    }
  }

  private var run: Run?
  /// The end of the last step, before which no other may end.
  private var last = Int64.min
  private var (least, greatest) = (Int16.max, Int16.min)
  private var (squares, summed) = (Int64(0), 0)

  /// Adds the next part of the stream.
  ///
  /// Where the file's times are more than 10 ms ahead of the samples, a new stretch begins there;
  /// where they are late, the sound that would be heard twice is skipped.
  mutating func take(_ levels: AudioReader.Levels, _ body: (Step) throws -> Void)
    throws
  {
    guard Self.rates.contains(levels.rate), levels.channels > 0 else { return }
    var skipped = 0
    if !continues(levels) {
      try finish(body)
      let start = levels.start?.nanoseconds ?? max(0, last)
      guard abs(Int128(start)) < Self.timesMax else { return }
      if start < last {
        let overlap = (Int128(last) - Int128(start)) * Int128(levels.rate)
        skipped = Int(clamping: (overlap + Self.second - 1) / Self.second)
      }
      run = Run(start: max(start, last), rate: levels.rate)
    }
    let instants = levels.samples.count / levels.channels
    guard var run, skipped < instants else { return }
    for instant in skipped..<instants {
      for sample in levels.samples[instant * levels.channels..<(instant + 1) * levels.channels] {
        (least, greatest) = (min(least, sample), max(greatest, sample))
        squares += Int64(sample) * Int64(sample)
      }
      summed += levels.channels
      run.count += 1
      // Complete steps, for a rate that is not a multiple of 100, too.
      if run.count * Self.stepsPerSecond / run.rate
        > (run.count - 1) * Self.stepsPerSecond / run.rate
      {
        try emit(run.start + Int64(run.count * Self.stepsPerSecond / run.rate) * 10_000_000, body)
      }
    }
    self.run = run
  }

  /// Ends the last stretch, whose last step may be shorter.
  mutating func finish(_ body: (Step) throws -> Void) throws {
    if let run, summed > 0 { try emit(run.end, body) }
    run = nil
  }

  private func continues(_ levels: AudioReader.Levels) -> Bool {
    guard let run, run.rate == levels.rate else { return false }
    guard let start = levels.start?.nanoseconds else { return true }
    let (distance, overflow) = start.subtractingReportingOverflow(run.end)
    return !overflow && distance.magnitude <= Self.gapNanoseconds
  }

  private mutating func emit(
    _ time: Int64, _ body: (Step) throws -> Void
  ) throws {
    last = max(last, time)
    let rms = (Double(squares) / Double(summed)).squareRoot()
    let values = [Double(least), Double(greatest), rms].map { $0 / 32_768 }
    (least, greatest, squares, summed) = (.max, .min, 0, 0)
    try body(Step(nanoseconds: last, values: values))
  }
}
