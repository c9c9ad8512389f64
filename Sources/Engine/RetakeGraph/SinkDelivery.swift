public import RetakeBuffers
public import RetakeCore

/// The argument of a closure sink for one captured frame.
public struct SinkDelivery: Sendable {
  /// The frame's value at the sink, or how the frame ended before it.
  public enum Content: Sendable {
    /// The value that reached the sink.
    case value(any PipelineValue)
    /// The fate of a frame that did not reach the sink, and the ID of the node where it ended.
    case ended(FrameFate, node: String)
  }

  /// Track and sequence, also of a frame that ended before the sink.
  public var frame: FrameID
  /// Presentation time from the replay's origin, as in `StageContext`.
  public var timestamp: Timestamp
  /// A value, or the frame's end. `result(as:)` returns the value with its type.
  public var content: Content
  /// Set live, in a pipeline with pools. Keep it for as long as the frame is used.
  public var lease: FrameLease?
  /// Why the frame ended, if a stage or its source failed. This includes the failure that halts the
  /// run, at its frame.
  public var failure: StageFailure?

  /// For a test that calls a sink's closure itself.
  public init(
    frame: FrameID, timestamp: Timestamp, content: Content, lease: FrameLease? = nil,
    failure: StageFailure? = nil
  ) {
    self.frame = frame
    self.timestamp = timestamp
    self.content = content
    self.lease = lease
    self.failure = failure
  }

  /// The value of the frame, or the failure that replaces it.
  ///
  /// - Returns: `nil` for a frame that was dropped, throttled, replaced or left in flight, and
  ///   for a value of another type.
  public func result<Value: PipelineValue>(
    as type: Value.Type = Value.self
  ) -> Result<Value, StageFailure>? {
    switch content {
    case .value(let value): (value as? Value).map { .success($0) }
    case .ended: failure.map { .failure($0) }
    }
  }
}
