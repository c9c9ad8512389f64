public import RetakeBuffers
public import RetakeCore

/// A captured frame whose outcome is known at all sinks.
public struct FinishedFrame: Sendable {
  /// The frame's row in the index, with its ID. Its times are not shifted to the replay's origin.
  public var entry: FrameEntry
  /// Virtual time of its arrival, in nanoseconds from the replay's origin.
  public var arrivalNanoseconds: Int64
  /// The values that each sink of the frame's source received, or the frame's fate at the sink.
  public var result: FrameResult
  /// The class names that came with a sink's detections, by sink as in `result`; empty if there
  /// were no class names.
  public var classNames: [[String]]
  /// The images that sinks received, by sink as in `result`; `nil` if the value was not an image.
  public var pictures: [Frame?] = []
  /// Failures of its stages and its source, in the order in which they happened; at most one per
  /// node.
  public var failures: [StageFailure] = []
  /// One per node whose role `isDigested`, in topological order; empty unless the observer wants
  /// digests.
  public var digests: [NodeDigest]
}
