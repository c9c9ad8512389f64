/// Counts of a pool that adapts to the load.
public struct PoolCounts: Hashable, Sendable, Codable {
  /// The pool's ID in the pipeline.
  public var pool: String
  /// Buffers at the end.
  public var size: Int
  /// The largest number of buffers that were held at once.
  public var peak = 0
  /// Requests that took a buffer, and those that found none.
  public var requests = 0
  /// Requests that found no buffer.
  public var stalls = 0
  /// Buffers that came back: divided by the time, the pool's velocity.
  public var completed = 0
  /// Changes of size, including those that recreate the buffers in the same number; at most 50.
  public var resizes = 0
  /// Whether the breaker turned it into a fixed pool.
  public var isBroken = false

  package init(pool: String, size: Int) {
    self.pool = pool
    self.size = size
  }
}

/// How long frames of a source waited for a buffer of its pool.
public struct WaitCounts: Hashable, Sendable, Codable {
  /// The source's ID in the pipeline.
  public var source: String
  /// Frames that waited and were then captured.
  public var waited = 0
  /// The sum of their waits, in nanoseconds.
  public var nanoseconds: Int64 = 0
  /// The longest of their waits, in nanoseconds.
  public var nanosecondsMax: Int64 = 0
  /// Frames that waited to the limit, or found the driver full, and were lost.
  public var lost = 0

  package init(source: String) {
    self.source = source
  }
}

/// How hot the modelled device was in a run: docs/heat.md.
public struct HeatCounts: Hashable, Sendable, Codable {
  /// The highest temperature at the end of a tick, in thousandths of a degree Celsius.
  public var hottestMillidegrees = 0
  /// When it was reached first, in nanoseconds of virtual time; `nil` before the run has begun.
  public var hottestAtNanoseconds: Int64?
  /// The temperature at the end, in thousandths of a degree Celsius.
  public var lastMillidegrees = 0
  /// When the device was first `serious` or hotter; `nil` if it never was.
  public var seriousAtNanoseconds: Int64?
  /// How often the device got hotter and was then `serious` or `critical`.
  public var thermalEvents = 0
  /// Nanoseconds of virtual time in each state, by its name; states that never were are missing.
  public var nanoseconds: [String: Int64] = [:]
  /// The energy that became heat.
  public var millijoules = 0
  /// Bytes of the frames that stages have made.
  public var copiedBytes = 0

  package init() {}

  /// The time in a state, in nanoseconds.
  public subscript(state: ThermalState) -> Int64 { nanoseconds[state.rawValue] ?? 0 }
}

/// Counts of a modelled screen.
public struct ScreenCounts: Hashable, Sendable, Codable {
  /// The ID of the screen's node.
  public var sink: String
  /// Frames that were shown.
  public var shown = 0
  /// Refreshes without a new frame, from the first shown frame to the last: judder, if the frames
  /// arrive at the screen's own rate.
  public var repeats = 0
  /// Frames that arrived and were replaced by newer ones before they were shown.
  public var unseen = 0
  /// The sum, over all shown frames, of the nanoseconds from arrival to display.
  public var latencySum: Int64 = 0
  /// The longest time from arrival to display, in nanoseconds.
  public var latencyMax: Int64 = 0

  package init(sink: String) {
    self.sink = sink
  }

  /// The mean time from arrival to display, in nanoseconds.
  public var latencyMean: Int64 { shown > 0 ? latencySum / Int64(shown) : 0 }
}

extension ScreenCounts {
  private enum CodingKeys: String, CodingKey {
    case sink, shown, repeats, unseen, latencySum, latencyMax
    /// Written for readers of the JSON; ignored when the JSON is read.
    case latencyMean
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(sink: try container.decode(String.self, forKey: .sink))
    shown = try container.decode(Int.self, forKey: .shown)
    repeats = try container.decode(Int.self, forKey: .repeats)
    unseen = try container.decode(Int.self, forKey: .unseen)
    latencySum = try container.decode(Int64.self, forKey: .latencySum)
    latencyMax = try container.decode(Int64.self, forKey: .latencyMax)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(sink, forKey: .sink)
    try container.encode(shown, forKey: .shown)
    try container.encode(repeats, forKey: .repeats)
    try container.encode(unseen, forKey: .unseen)
    try container.encode(latencySum, forKey: .latencySum)
    try container.encode(latencyMax, forKey: .latencyMax)
    try container.encode(latencyMean, forKey: .latencyMean)
  }
}
