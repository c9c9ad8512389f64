import RetakeCore

/// Decides when a live source is reported as silent or lost, which events the session records, and
/// when a call that does not return is abandoned.
struct SourceWatch: Hashable, Sendable {
  struct Limits: Hashable, Sendable {
    /// Silence after which a source is reported: below two seconds, or three frames of a slow
    /// source.
    var noticeNanoseconds: Int64 = 1_500_000_000
    /// Maximum duration of a call. FFmpeg's own calls are interrupted before that.
    var callNanosecondsMax: Int64 = 6_000_000_000
    /// A source that is away for longer ends the recording; nil waits forever.
    var patienceNanoseconds: Int64?

    init() {}

    init(framesPerSecond: Double?, patience: Duration?) {
      if let framesPerSecond, framesPerSecond > 0 {
        // Int64 traps on a Double beyond its range, and a stream may claim any rate.
        noticeNanoseconds = max(noticeNanoseconds, Int64(min(3e9 / framesPerSecond, 1e12)))
      }
      patienceNanoseconds = patience?.nanoseconds
    }
  }

  /// An event of the recorder in the session.
  enum Note: Hashable, Sendable {
    /// No frames arrived for a while; the connection is still open.
    case stalled
    case lost(cause: String)
    /// Frames arrive again, after this number of new connections; 0 when the source was only
    /// silent.
    case back(gapNanoseconds: Int64, attempts: Int)

    var kind: String {
      switch self {
      case .stalled: "source.stalled"
      case .lost: "source.lost"
      case .back: "source.back"
      }
    }

    /// Whether an event of this kind means that no frames arrive for now.
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
    /// The call does not return: abandon its thread and connect from another one.
    case abandon
    case giveUp(cause: String)
    case wait(untilNanoseconds: Int64)
  }

  /// Maximum number of abandoned calls, because each of them occupies a thread.
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

  /// A connection ended or could not be made. Only the first of several in a row is noted.
  mutating func lost(_ cause: String) -> Note? {
    // A source that was only silent is noted again, because now its connection is gone, too.
    let isNew = gap?.isLost != true
    gap = Gap(isLost: true, cause: cause, attempts: (gap?.attempts ?? 0) + 1)
    return isNew ? .lost(cause: cause) : nil
  }

  /// - Parameter callNanoseconds: When the current call began; nil when no call is in progress.
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
        return .giveUp(cause: counted(abandoned, "call") + " to the source never came back")
      }
      abandoned += 1
      // A new connection follows, as after a lost one.
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

/// How long to wait before the next attempt: doubled each time, up to a bound.
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
