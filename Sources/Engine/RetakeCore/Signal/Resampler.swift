/// Resamples values from any times to even times, by linear interpolation between true times.
///
/// The even times are the time of the first sample and every 1 / rate after it, in whole
/// nanoseconds. They stay the same while the window moves, so an even sample keeps its value. The
/// number of frames does not measure time: if a camera drops frames, a resampler that counts frames
/// stretches the signal.
package struct Resampler: Hashable, Sendable {
  /// Why a window begins where it does.
  package enum Beginning: Hashable, Sendable {
    /// With the first sample of all, or where the window moved to.
    case start
    /// After a time without samples, in nanoseconds, that was too long to be interpolated.
    case gap(nanoseconds: Int64)
    /// With a sample that is earlier than the sample before.
    case earlier(nanoseconds: Int64)
  }

  /// The most channels of a sample.
  package static let channelsMax = 16
  /// The most samples per second.
  package static let rateMax = 240
  /// The longest window: two minutes.
  package static let windowMax: Int64 = 120_000_000_000
  /// The longest gap that can be interpolated.
  package static let gapMax: Int64 = 10_000_000_000
  /// 73 years: differences of times up to it fit into 64 bits.
  private static let timeMax: Int64 = 1 << 61

  /// Even samples by channel, the earliest first.
  package private(set) var channels: [[Double]] = []
  package private(set) var beginning = Beginning.start
  /// Of the latest even sample; `nil` without one.
  package private(set) var end: Int64?

  private let rate: Int
  private let countMax: Int
  private let gap: Int64
  /// Of the first sample of this stretch without a gap.
  private var origin: Int64 = 0
  /// The number of even samples since `origin`, including samples that have left the window.
  private var made = 0
  private var last: Sample?

  private struct Sample: Hashable {
    var time: Int64
    var values: [Double]
  }

  /// - Parameters:
  ///   - rate: Samples per second, 1 to `rateMax`.
  ///   - window: How long a signal is kept, in nanoseconds; 1 to `windowMax`.
  ///   - gap: The longest time between two samples that is interpolated, in nanoseconds; 1 to
  ///     `gapMax`.
  package init(rate: Int, windowNanoseconds window: Int64, gapNanoseconds gap: Int64) {
    requirement((1...Self.rateMax).contains(rate), "the rate is 1 to \(Self.rateMax)")
    requirement((1...Self.windowMax).contains(window), "the window has a bound")
    requirement((1...Self.gapMax).contains(gap), "the gap has a bound")
    (self.rate, self.gap) = (rate, gap)
    // Below 2^37 × 240, far from the end of 64 bits.
    countMax = max(1, Int(window) * rate / 1_000_000_000)
  }

  /// Adds the values of one moment. A value that is not a number makes the sample a missing one.
  ///
  /// - Parameters:
  ///   - values: A value for each channel, at most `channelsMax`. A change of their number begins a
  ///     new signal.
  ///   - time: In nanoseconds.
  package mutating func add(_ values: [Double], at time: Int64) {
    requirement(values.count <= Self.channelsMax, "a sample has at most 16 channels")
    guard time.magnitude <= Self.timeMax.magnitude else { return }
    guard let last, last.values.count == values.count else {
      if values.isMeasurable { begin(with: values, at: time, .start) }
      return
    }
    let step = time - last.time
    if step > gap {
      // The window has ended, even if this sample cannot begin the next one.
      empty()
      if values.isMeasurable { begin(with: values, at: time, .gap(nanoseconds: step)) }
    } else if step < 0 {
      if values.isMeasurable { begin(with: values, at: time, .earlier(nanoseconds: -step)) }
    } else if step > 0, values.isMeasurable {
      interpolate(from: last, to: Sample(time: time, values: values))
    }
  }

  private mutating func empty() {
    channels = channels.map { _ in [] }
    end = nil
  }

  private mutating func begin(with values: [Double], at time: Int64, _ reason: Beginning) {
    channels = values.map { [$0] }
    (origin, made, end, beginning) = (time, 1, time, reason)
    last = Sample(time: time, values: values)
  }

  /// The even times after `from` and up to `to`; at most a gap's worth.
  private mutating func interpolate(from: Sample, to: Sample) {
    while true {
      let due = origin + Self.nanoseconds(of: made, rate: rate)
      guard due <= to.time else { break }
      let share = Double(due - from.time) / Double(to.time - from.time)
      for index in channels.indices {
        channels[index].append(from.values[index] * (1 - share) + to.values[index] * share)
      }
      (made, end) = (made + 1, due)
    }
    let surplus = (channels.first?.count ?? 0) - countMax
    if surplus > 0 {
      for index in channels.indices { channels[index].removeFirst(surplus) }
      beginning = .start
    }
    last = to
  }

  /// The time of even samples from their first, rounded down. Full seconds are computed separately,
  /// so that the product fits for as long as times do.
  private static func nanoseconds(of count: Int, rate: Int) -> Int64 {
    Int64(count / rate) * 1_000_000_000 + Int64(count % rate) * 1_000_000_000 / Int64(rate)
  }
}
