/// The outcome of one captured frame at one sink.
public struct SinkOutcome: Hashable, Sendable {
  /// The values that the sink received, or the fate of a frame that did not reach the sink.
  public enum Content: Hashable, Sendable {
    case facts([ResultFact])
    /// The frame did not arrive: how it ended, and at which node.
    case ended(FrameFate, node: String)
  }

  /// The ID of the sink's node.
  public var sink: String
  /// The values at this sink, or the fate of the frame.
  public var content: Content

  /// An outcome as a run reports it, for example to compare with in a test.
  public init(sink: String, content: Content) {
    self.sink = sink
    self.content = content
  }
}
