/// Decides how much of its queues a recorder may fill, from the memory that it may still take.
///
/// A limit on the process is met at an allocation, and the program dies there: so payload is shed
/// before.
struct MemoryWatch: Hashable, Sendable {
  enum Level: String, Hashable, Sendable, Comparable {
    case normal
    /// A quarter of each queue.
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

  /// What libraries and threads may still want: below twice this memory is short.
  static let marginBytes: Int64 = 48 << 20
  /// A level ends this far above where it began.
  static let hysteresisBytes: Int64 = 16 << 20
  /// A queue's payload is at first at most this part of what may be taken.
  static let queueShare: Int64 = 4

  private(set) var level = Level.normal

  /// - Parameter room: Bytes that may still be taken; nil when there is no limit.
  /// - Returns: the level when it is another one now.
  mutating func look(room: Int64?) -> Level? {
    guard let room else { return nil }
    var next = Self.level(room)
    if next < level { next = min(level, Self.level(room - Self.hysteresisBytes)) }
    guard next != level else { return nil }
    level = next
    return next
  }

  private static func level(_ room: Int64) -> Level {
    if room < marginBytes { return .critical }
    return room < 2 * marginBytes ? .short : .normal
  }

  /// A ring's, where nobody says how much it may take.
  static let ringBytesStandard = 1 << 30

  /// A ring's bytes, bounded by what may be taken when the recording begins.
  ///
  /// - Parameters:
  ///   - wanted: What somebody asked for.
  ///   - room: As for queues; a limit holds whatever was asked for.
  ///   - available: What the machine has free; nil when nobody knows.
  static func ringBound(_ wanted: Int?, room: Int64?, available: Int64?) -> Int {
    let share = available.map { Int(max(1, $0 / queueShare)) } ?? .max
    return bound(wanted ?? min(ringBytesStandard, share), room: room)
  }

  /// A queue's bytes, bounded by what may be taken when the recording begins.
  static func bound(_ bytes: Int, room: Int64?) -> Int {
    guard let room else { return bytes }
    return min(bytes, Int(max(1, (room - marginBytes) / queueShare)))
  }
}
