import RetakeCore

/// How a live preview did: `offered = shown + dropped + thinned + waiting`.
public struct WindowFigures: Hashable, Sendable, Codable {
  /// Of many durations, in nanoseconds; ranks are nearest ranks.
  public struct Spread: Hashable, Sendable, Codable {
    public var medianNanoseconds: Int64
    public var p99Nanoseconds: Int64
    public var mostNanoseconds: Int64
  }

  public var offered = 0
  public var shown = 0
  /// Two others were not done.
  public var dropped = 0
  /// Taken out because the device is hot.
  public var thinned = 0
  /// Taken, and not shown yet, or never because the window was closed.
  public var waiting = 0
  /// The sequence numbers of dropped frames, the first `dropsListedMax` of them.
  public var droppedSequences: [Int] = []
  /// How far the interval between two shown frames was from that between their time stamps.
  public var jitter: Spread?
  /// From the begin of drawing until the picture was handed to the screen.
  public var render: Spread?
  /// From the offer until the picture was handed to the screen.
  public var latency: Spread?
  /// How much older the frame of the shown results was than the shown frame.
  public var resultAge: Spread?

  public static let dropsListedMax = 1_024

  public init() {}
}
