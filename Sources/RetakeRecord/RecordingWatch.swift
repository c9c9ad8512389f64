import RetakeBuffers
import RetakeCore
import RetakeRuntime
import RetakeStore

/// Hears what a recorder captures, while it does: a preview. Each call must return at once; whoever
/// cannot keep up leaves frames out.
public struct RecordingWatch: Sendable {
  /// Called by the thread that captures. Nobody writes to the frame's pixels any more.
  public var captured: @Sendable (Frame) -> Void
  /// Called by the thread that tells a pipeline's sinks.
  public var found: @Sendable (LiveResult) -> Void
  /// What changes on the device.
  public var happened: @Sendable (DeviceEvent) -> Void
  /// Called by the thread that decides, with what a pipeline decided since the last call.
  public var decided: @Sendable ([DecisionLine]) -> Void

  public init(
    captured: @escaping @Sendable (Frame) -> Void,
    found: @escaping @Sendable (LiveResult) -> Void = { _ in },
    happened: @escaping @Sendable (DeviceEvent) -> Void = { _ in },
    decided: @escaping @Sendable ([DecisionLine]) -> Void = { _ in }
  ) {
    (self.captured, self.found, self.happened) = (captured, found, happened)
    self.decided = decided
  }

  /// Reports to all of them, in their order; `nil` for none.
  package init?(_ watches: [RecordingWatch]) {
    guard !watches.isEmpty else { return nil }
    self.init(
      captured: { frame in for watch in watches { watch.captured(frame) } },
      found: { result in for watch in watches { watch.found(result) } },
      happened: { event in for watch in watches { watch.happened(event) } },
      decided: { lines in for watch in watches { watch.decided(lines) } })
  }

  func capture(_ record: FrameRecord, _ frame: Frame) {
    var frame = frame
    frame.id = FrameID(track: record.track, sequence: record.sequence)
    captured(frame)
  }

  /// Looks at the device where no pipeline has it looked at. Where the system has no thread left the
  /// frames matter more.
  func device(clock: any LiveClock) -> DeviceWatch? {
    try? DeviceWatch(clock: clock, note: happened)
  }
}
