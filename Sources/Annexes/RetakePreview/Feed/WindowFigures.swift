/// The statistics of a live preview: `offered = shown + dropped + throttled + waiting`.
public struct WindowFigures: Hashable, Sendable, Codable {
  /// The distribution of durations, in nanoseconds; ranks are nearest ranks.
  public struct Spread: Hashable, Sendable, Codable {
    /// At least half of the samples are not longer.
    public var medianNanoseconds: Int64
    /// At least 99 percent of the samples are not longer.
    public var p99Nanoseconds: Int64
    /// The longest of all, even if a long run left it out of the other two values.
    public var mostNanoseconds: Int64
  }

  /// Frames that were offered before the feed was closed.
  public var offered = 0
  /// Frames that were handed to the screen.
  public var shown = 0
  /// Dropped because two other frames were not finished.
  public var dropped = 0
  /// Left out because the device is hot.
  public var throttled = 0
  /// Taken but not shown yet, or never shown because the window was closed.
  public var waiting = 0
  /// The sequence numbers of the first `dropsListedMax` dropped frames.
  public var droppedSequences: [Int] = []
  /// How often drops lasted; see `DropAlarm`.
  package var alarms = 0
  /// The difference between the interval of two shown frames and the interval of their time stamps.
  public var jitter: Spread?
  /// From the start of drawing until the image was handed to the screen.
  public var render: Spread?
  /// From the offer until the image was handed to the screen.
  public var latency: Spread?
  /// How much older the frame of the shown results was than the shown frame.
  public var resultAge: Spread?

  /// How long the steps of `render` took; empty if another loop than `LivePreview` draws.
  package var steps = StepFigures()

  /// The renderer of the window; `nil` if another loop than `LivePreview` draws.
  package var renderer: WindowRenderer?

  package static let dropsListedMax = 1_024

  package init() {}
}
