public import RetakeBuffers
public import RetakeCore
public import RetakeRuntime
import RetakeStore

/// Callbacks that a recorder calls while it captures, for example for a preview. Each callback must
/// return at once; a slow observer should skip frames.
public struct RecordingWatch: Sendable {
  /// Called on the capturing thread. The frame's pixels are not written to any more.
  public var captured: @Sendable (Frame) -> Void
  /// Called on the thread that notifies a pipeline's sinks.
  public var found: @Sendable (LiveResult) -> Void
  /// Called for changes of the device, also for changes that the app notes; then on the app's
  /// thread.
  public var happened: @Sendable (DeviceEvent) -> Void
  /// Called on the deciding thread, with the decisions of a pipeline since the last call.
  public var decided: @Sendable ([DecisionLine]) -> Void
  /// Called on the capturing thread when a source that may come back is silent, gone or back.
  package var sourceChanged: @Sendable (SourceChange) -> Void = { _ in }
  /// Whether the device is watched in a recording without a pipeline, which needs a thread.
  package var watchesDevice = true

  /// By default, callbacks are empty. Different callbacks may be called at the same time, on
  /// different threads.
  public init(
    captured: @escaping @Sendable (Frame) -> Void,
    found: @escaping @Sendable (LiveResult) -> Void = { _ in },
    happened: @escaping @Sendable (DeviceEvent) -> Void = { _ in },
    decided: @escaping @Sendable ([DecisionLine]) -> Void = { _ in }
  ) {
    (self.captured, self.found, self.happened) = (captured, found, happened)
    self.decided = decided
  }

  /// Only changes of the source.
  package init(sourceChanged: @escaping @Sendable (SourceChange) -> Void) {
    self.init(captured: { _ in })
    self.sourceChanged = sourceChanged
    watchesDevice = false
  }

  /// Forwards to all of them, in their order; `nil` for an empty list.
  package init?(_ watches: [RecordingWatch]) {
    guard !watches.isEmpty else { return nil }
    self.init(
      captured: { frame in for watch in watches { watch.captured(frame) } },
      found: { result in for watch in watches { watch.found(result) } },
      happened: { event in for watch in watches { watch.happened(event) } },
      decided: { lines in for watch in watches { watch.decided(lines) } })
    sourceChanged = { change in for watch in watches { watch.sourceChanged(change) } }
    watchesDevice = watches.contains(where: \.watchesDevice)
  }

  func capture(_ record: FrameRecord, _ frame: Frame) {
    var frame = frame
    // Only the recorder knows the sequence; observers match results to frames by the id.
    frame.id = FrameID(track: record.track, sequence: record.sequence)
    captured(frame)
  }

  /// Watches the device when there is no pipeline that does. If no thread can be created, the
  /// recording continues without it.
  func device(clock: any LiveClock) -> DeviceWatch? {
    watchesDevice ? try? DeviceWatch(clock: clock, note: happened) : nil
  }
}
