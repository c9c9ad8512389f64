import RetakeCore
import RetakeMedia

/// Evidence in the files for the time between the end of a chapter and the next chapter.
struct ChapterLink: Hashable, Sendable {
  enum Evidence: Hashable, Sendable {
    /// The times of the next file continue the times of the file before.
    case times
    case timecode
    /// The telemetry's counts of samples since the beginning of the recording.
    case samples
    /// The creation times, which are exact to a second.
    case created
    case none
  }

  var evidence = Evidence.none
  /// The missing time. Less than a frame is the rounding of the files' times. Negative if pictures
  /// of the next file are shown before the last pictures of this one.
  var gapNanoseconds: Int64 = 0
  /// Evidence that contradicts the order or the length of the files.
  var doubt: String?

  /// Less is the rounding of a file's times.
  var isGap: Bool { gapNanoseconds > 2_000_000 }

  /// Whether the next file begins among the last pictures of this one, as they are shown.
  var isInterleaved: Bool { gapNanoseconds < -2_000_000 }

  /// A longer distance of a file's times is a clock that began elsewhere.
  private static let clockMax: Int64 = 47_721_000_000_000
  /// Longer than a picture can wait for pictures that are shown before it: 16 at most.
  private static let reorderMax: Int64 = 2_000_000_000
  /// Creation times have no fractions, and a camera needs a moment for a new file.
  private static let createdMax: Int64 = 2_000_000_000

  /// - Parameters:
  ///   - spans: When the chapters begin and end, by their own times; nil for a file without times.
  ///   - decoding: The same by the times at which packets are decoded.
  ///   - step: The duration of a frame.
  init(
    _ before: Chapter, _ after: Chapter, _ spans: (Range<Int64>?, Range<Int64>?),
    decoding: (Range<Int64>?, Range<Int64>?), step: Int64
  ) {
    guard let first = spans.0, let second = spans.1 else { return }
    let length = first.upperBound - first.lowerBound
    let clock = second.lowerBound - first.upperBound
    // A stream that was cut between a picture and the pictures that are shown before it: only the
    // order of decoding continues from file to file.
    let decodingClock = decoding.0.flatMap { end in
      decoding.1.map { $0.lowerBound - end.upperBound }
    }
    if before.format == after.format, max(clock, decodingClock ?? clock) >= -step / 2,
      clock > -Self.reorderMax, clock < Self.clockMax
    {
      (evidence, gapNanoseconds) = (.times, clock)
      return
    }
    if let passed = Self.passed(before, after), passed != 0 {
      let gap = passed - length
      if gap >= -step {
        (evidence, gapNanoseconds) = (.timecode, gap > step ? gap : 0)
        return
      }
      doubt = "their time codes do not fit: \(before.timecode ?? ""), then \(after.timecode ?? "")"
    }
    if let gap = Self.uncounted(before, after, first, second) {
      if gap >= -Self.samplesMax {
        (evidence, gapNanoseconds) = (.samples, gap > Self.samplesMax ? gap : 0)
        return
      }
      doubt = doubt ?? "their telemetry counts samples twice"
    }
    guard let one = before.created, let two = after.created, one != two else { return }
    let gap = two - one - length
    // Some cameras write the time at which a file ends.
    let ends = two - one - (second.upperBound - second.lowerBound)
    if min(gap.magnitude, ends.magnitude) <= Self.createdMax.magnitude {
      evidence = .created
    } else if gap > 0 {
      (evidence, gapNanoseconds) = (.created, gap)
    } else if doubt == nil {
      doubt =
        "their creation times do not fit: \(SessionDate.text(one)), then \(SessionDate.text(two))"
    }
  }

  /// The rate of a sensor varies by a percent, and a packet of telemetry lasts a second.
  private static let samplesMax: Int64 = 100_000_000

  /// The time between the frames of two chapters in which samples are missing.
  private static func uncounted(
    _ before: Chapter, _ after: Chapter, _ first: Range<Int64>, _ second: Range<Int64>
  ) -> Int64? {
    guard let one = before.telemetry, let two = after.telemetry,
      let start = one.start(of: two)
    else { return nil }
    // Telemetry may begin and end before or after the frames of its file.
    return (start &- first.upperBound) &- (two.startNanoseconds &- second.lowerBound)
  }

  /// The time from the first frame of a chapter to the first frame of the next, by the time codes.
  private static func passed(_ before: Chapter, _ after: Chapter) -> Int64? {
    guard let rate = before.streams.first?.averageFrameRate,
      let one = before.timecode.flatMap({ frames($0, rate) }),
      let two = after.timecode.flatMap({ frames($0, rate) })
    else { return nil }
    let drops = after.timecode?.contains { ";.".contains($0) } == true
    // Drop frame time code leaves out codes in 1,296 of the 1,440 minutes.
    let day = nominal(rate) * 86_400 - (drops ? nominal(rate) / 15 * 1_296 : 0)
    var passed = two - one
    // A recording over midnight: the code begins again at zero.
    if passed < -day / 2 { passed += day }
    return Int64(
      clamping: divideToNearest(
        Int128(passed) * Int128(rate.denominator) * 1_000_000_000, by: Int128(rate.numerator)))
  }

  private static func nominal(_ rate: FrameRate) -> Int64 {
    max(1, Int64(rate.framesPerSecond.rounded()))
  }

  /// The number of a frame since midnight: `19:26:48:04`, or `19:26:48;04` without the two codes
  /// that drop frame time code leaves out each minute (SMPTE 12M).
  static func frames(_ timecode: String, _ rate: FrameRate) -> Int64? {
    guard let match = timecode.wholeMatch(of: /(\d\d):(\d\d):(\d\d)([:;.])(\d\d+)/),
      let hours = Int64(match.1), let minutes = Int64(match.2), let seconds = Int64(match.3),
      let frame = Int64(match.5), hours < 24, minutes < 60, seconds < 60
    else { return nil }
    let nominal = nominal(rate)
    let count = ((hours * 60 + minutes) * 60 + seconds) * nominal + frame
    guard match.4 != ":" else { return count }
    let all = hours * 60 + minutes
    return count - nominal / 15 * (all - all / 10)
  }
}
