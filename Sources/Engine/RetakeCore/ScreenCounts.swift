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

  /// Reads the counts from a results document.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(sink: try container.decode(String.self, forKey: .sink))
    shown = try container.decode(Int.self, forKey: .shown)
    repeats = try container.decode(Int.self, forKey: .repeats)
    unseen = try container.decode(Int.self, forKey: .unseen)
    latencySum = try container.decode(Int64.self, forKey: .latencySum)
    latencyMax = try container.decode(Int64.self, forKey: .latencyMax)
  }

  /// Writes the counts to a results document.
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
