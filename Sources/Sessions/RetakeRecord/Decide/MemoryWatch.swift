/// Decides how much of its queues a recorder may fill, from the memory that the process may still
/// allocate.
///
/// An allocation that exceeds the process's limit fails and ends the program. The recorder
/// therefore sheds payload before that happens.
struct MemoryWatch: Hashable, Sendable {
  enum Level: String, Hashable, Sendable, Comparable {
    case normal
    /// Each queue is limited to a quarter.
    case short
    /// One frame at a time.
    case critical

    private var rank: Int {
      switch self {
      case .normal: 0
      case .short: 1
      case .critical: 2
      }
    }

    static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
  }

  /// Memory that libraries and threads may still need. Less than twice this amount is `short`.
  static let marginBytes: Int64 = 48 << 20
  /// A level ends only this far above the limit at which it began.
  static let hysteresisBytes: Int64 = 16 << 20
  /// Initially a queue's payload may use at most one part in this many of the available memory.
  static let queueShare: Int64 = 4

  private(set) var level = Level.normal

  /// - Parameter room: Bytes that may still be allocated; nil without a limit.
  /// - Returns: the new level, if it changed.
  mutating func look(room: Int64?) -> Level? {
    guard let room else { return nil }
    var next = Self.level(room)
    // Hysteresis: leaving a level needs more free memory than entering it.
    if next < level { next = min(level, Self.level(room - Self.hysteresisBytes)) }
    guard next != level else { return nil }
    level = next
    return next
  }

  private static func level(_ room: Int64) -> Level {
    if room < marginBytes { return .critical }
    return room < 2 * marginBytes ? .short : .normal
  }

  /// Default limit of a ring, if the options have no limit.
  static let defaultRingBytes = 1 << 30

  /// The bytes of a ring, bounded by the memory that is available when the recording begins.
  ///
  /// - Parameters:
  ///   - wanted: The limit that was requested, if any.
  ///   - room: As for queues. A memory limit applies to any requested size.
  ///   - available: Free memory of the machine; nil when it is not known.
  static func ringBound(_ wanted: Int?, room: Int64?, available: Int64?) -> Int {
    let share = available.map { Int(max(1, $0 / queueShare)) } ?? .max
    return bound(wanted ?? min(defaultRingBytes, share), room: room)
  }

  /// The bytes of a queue, bounded by the memory that is available when the recording begins.
  static func bound(_ bytes: Int, room: Int64?) -> Int {
    guard let room else { return bytes }
    return min(bytes, Int(max(1, (room - marginBytes) / queueShare)))
  }
}
