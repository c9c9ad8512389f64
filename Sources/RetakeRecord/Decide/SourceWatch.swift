import RetakeCore

/// Decides when a live source counts as silent or lost, what the session says of it, and when a call
/// that does not come back is left to itself.
struct SourceWatch: Hashable, Sendable {
  struct Limits: Hashable, Sendable {
    /// Silence that is noticed: it lies below two seconds, or at three frames of a slow source.
    var noticeNanoseconds: Int64 = 1_500_000_000
    /// A call may last so long; FFmpeg itself is cut before.
    var callNanosecondsMax: Int64 = 6_000_000_000
    /// A source that is away for longer ends the recording; nil waits for ever.
    var patienceNanoseconds: Int64?

    init() {}

    init(framesPerSecond: Double?, patience: Duration?) {
      if let framesPerSecond, framesPerSecond > 0 {
        noticeNanoseconds = max(noticeNanoseconds, Int64(min(3e9 / framesPerSecond, 1e12)))
      }
      patienceNanoseconds = patience?.nanoseconds
    }
  }

  /// For the session, as an event of the recorder's.
  enum Note: Hashable, Sendable {
    /// Nothing came for a while; the connection stands.
    case stalled
    case lost(cause: String)
    /// Frames come again, after so many new connections; 0 when the old one was only silent.
    case back(gapNanoseconds: Int64, attempts: Int)

    var kind: String {
      switch self {
      case .stalled: "source.stalled"
      case .lost: "source.lost"
      case .back: "source.back"
      }
    }

    /// Whether an event of this kind says that no frames come for now.
    static func isAway(_ kind: String) -> Bool {
      kind == Note.stalled.kind || kind == Note.lost(cause: "").kind
    }

    var json: JSONValue {
      switch self {
      case .stalled: .object([:])
      case .lost(let cause): .object(["cause": .string(cause)])
      case .back(let gap, let attempts):
        .object(["attempts": .integer(Int64(attempts)), "gapNanoseconds": .integer(gap)])
      }
    }
  }

  enum Step: Hashable, Sendable {
    case note(Note)
    /// The call never comes back: leave its thread alone and connect with another one.
    case abandon
    case giveUp(cause: String)
    case wait(untilNanoseconds: Int64)
  }

  /// Calls that are left alone; more are not begun, since each keeps a thread.
  static let abandonedMax = 8

  private struct Gap: Hashable, Sendable {
    var isLost: Bool
    var cause: String
    var attempts = 0
  }

  let limits: Limits
  private var lastNanoseconds: Int64
  private var gap: Gap?
  private var abandoned = 0

  init(_ limits: Limits, nowNanoseconds: Int64) {
    self.limits = limits
    lastNanoseconds = nowNanoseconds
  }

  mutating func frame(atNanoseconds time: Int64) -> Note? {
    defer {
      lastNanoseconds = time
      gap = nil
    }
    return gap.map { .back(gapNanoseconds: time - lastNanoseconds, attempts: $0.attempts) }
  }

  /// A connection ended or could not be made. Only the first of a row is worth a note.
  mutating func lost(_ cause: String) -> Note? {
    let isNew = gap?.isLost != true
    gap = Gap(isLost: true, cause: cause, attempts: (gap?.attempts ?? 0) + 1)
    return isNew ? .lost(cause: cause) : nil
  }

  /// - Parameter callNanoseconds: When the call that is under way began; nil when there is none.
  mutating func step(nowNanoseconds now: Int64, callNanoseconds: Int64?) -> Step {
    let silent = now - lastNanoseconds
    if let patience = limits.patienceNanoseconds, silent >= patience {
      return .giveUp(cause: gap?.cause ?? "no frame came")
    }
    if gap == nil, silent >= limits.noticeNanoseconds {
      gap = Gap(isLost: false, cause: "no frame came")
      return .note(.stalled)
    }
    if let callNanoseconds, now - callNanoseconds >= limits.callNanosecondsMax {
      guard abandoned < Self.abandonedMax else {
        return .giveUp(cause: "\(abandoned) calls to the source never came back")
      }
      abandoned += 1
      gap?.attempts += 1
      return .abandon
    }
    return .wait(untilNanoseconds: deadline(callNanoseconds))
  }

  private func deadline(_ callNanoseconds: Int64?) -> Int64 {
    let all = [
      gap == nil ? lastNanoseconds + limits.noticeNanoseconds : nil,
      limits.patienceNanoseconds.map { lastNanoseconds + $0 },
      callNanoseconds.map { $0 + limits.callNanosecondsMax },
    ]
    return all.compactMap(\.self).min() ?? .max
  }
}

/// How long to wait before the next attempt: twice as long each time, up to a bound.
struct BackOff: Hashable, Sendable {
  let firstNanoseconds: Int64
  let nanosecondsMax: Int64
  private var nextNanoseconds: Int64

  init(firstNanoseconds: Int64 = 250_000_000, nanosecondsMax: Int64 = 5_000_000_000) {
    (self.firstNanoseconds, self.nanosecondsMax) = (firstNanoseconds, nanosecondsMax)
    nextNanoseconds = firstNanoseconds
  }

  mutating func next() -> Int64 {
    defer { nextNanoseconds = min(nanosecondsMax, 2 * nextNanoseconds) }
    return nextNanoseconds
  }

  mutating func reset() {
    nextNanoseconds = firstNanoseconds
  }
}
