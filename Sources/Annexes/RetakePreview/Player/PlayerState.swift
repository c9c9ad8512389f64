/// Determines which frame of a track is shown at which time. Implements the keys of a player,
/// without a window.
struct PlayerState: Hashable, Sendable {
  /// From slow motion to fast preview.
  static let speeds: [Double] = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16]
  static let seekNanoseconds: Int64 = 1_000_000_000

  enum Command: Hashable, Sendable {
    case togglePause, stepForward, stepBack, seekForward, seekBack, faster, slower, home, end
    case nextUncertain, previousUncertain
    /// A position on the scrub bar, 0 to 1.
    case scrub(Double)
  }

  /// The times of the frames on the session's time line, in increasing order; at least one.
  let times: [Int64]
  /// The indices of the frames that a person should look at, in ascending order.
  let uncertain: [Int]
  private(set) var index: Int
  private(set) var isPaused: Bool
  private(set) var speed: Double
  /// The playback position on the session's time line, and the clock's time at that position.
  private var position: Int64
  private var clock: Int64?

  /// - Parameters:
  ///   - speed: Any number above 0. The keys then change to the values of `speeds`.
  init(
    times: [Int64], uncertain: [Int] = [], first: Int = 0, speed: Double = 1,
    isPaused: Bool = false
  ) {
    precondition(times.indices.contains(first), "there is a first frame to show")
    precondition(speed > 0, "a player goes on")
    (self.times, self.uncertain) = (times, uncertain)
    (index, self.speed, self.isPaused) = (first, speed, isPaused)
    position = times[first]
  }

  var isAtEnd: Bool { index == times.count - 1 }

  /// The position of the shown frame, 0 to 1.
  var fraction: Double { fraction(of: index) }

  /// The position of a frame, 0 to 1.
  func fraction(of frame: Int) -> Double {
    let length = times[times.count - 1] - times[0]
    return length > 0 ? Double(times[frame] - times[0]) / Double(length) : 0
  }

  /// Advances to this time of the clock.
  mutating func tick(_ now: Int64) {
    defer { clock = now }
    guard !isPaused, let clock, now > clock else { return }
    position += Int64((Double(now - clock) * speed).rounded())
    let last = times.count - 1
    // Ends: at the last frame at the latest.
    while index < last, times[index + 1] <= position { index += 1 }
    // At the end it pauses, so that the space key begins again.
    if index == last { isPaused = true }
  }

  /// When the next frame is due, on the clock; `nil` while playback is paused or at the end.
  var nextDue: Int64? {
    guard !isPaused, let clock, index < times.count - 1 else { return nil }
    // Rounded up, so that the frame is really due when the wait is over.
    return clock + Int64(max(0, Double(times[index + 1] - position) / speed).rounded(.up))
  }

  mutating func apply(_ command: Command) {
    switch command {
    case .togglePause:
      if isPaused, isAtEnd { show(0) }
      isPaused.toggle()
      position = times[index]
    case .stepForward: step(to: index + 1)
    case .stepBack: step(to: index - 1)
    case .seekForward: seek(to: times[index] + Self.seekNanoseconds)
    case .seekBack: seek(to: times[index] - Self.seekNanoseconds)
    // The speed of the options need not be one of `speeds`.
    case .faster: speed = Self.speeds.first { $0 > speed } ?? speed
    case .slower: speed = Self.speeds.last { $0 < speed } ?? speed
    case .home: show(0)
    case .end: step(to: times.count - 1)
    case .nextUncertain: uncertain.first { $0 > index }.map { step(to: $0) }
    case .previousUncertain: uncertain.last { $0 < index }.map { step(to: $0) }
    case .scrub(let fraction):
      let length = Double(times[times.count - 1] - times[0])
      seek(to: times[0] + Int64((max(0, min(1, fraction)) * length).rounded()))
    }
  }

  private mutating func step(to wanted: Int) {
    isPaused = true
    show(wanted)
  }

  /// Shows the last frame at or before a time.
  private mutating func seek(to time: Int64) {
    var (low, high) = (0, times.count)
    // Ends: the range halves.
    while low < high {
      let middle = (low + high) / 2
      if times[middle] <= time { low = middle + 1 } else { high = middle }
    }
    show(low - 1)
  }

  private mutating func show(_ wanted: Int) {
    index = max(0, min(times.count - 1, wanted))
    position = times[index]
  }
}
