import RetakeCore
import RetakeRuntime

/// What came of letting a live run happen again.
public struct ReenactReport: Hashable, Sendable, Codable {
  /// Where the decisions part: everything behind it follows from it.
  public struct Divergence: Hashable, Sendable, Codable {
    /// Counts the decisions from 0.
    public var decision: Int
    /// The external event that was being handled; nil when the record ended before.
    public var event: Int?
    /// The recorded line; nil when there is none any more.
    public var recorded: String?
    /// The line that was decided now; nil when there is none any more.
    public var reenacted: String?
    /// Why the record could not be followed, where that is known.
    public var detail: String?
  }

  /// A value that was computed again and is not what was recorded.
  public struct ValueDivergence: Hashable, Sendable, Codable {
    public var frame: FrameID
    public var item: Int?
    /// The stage, route, forEach or sink.
    public var node: String
    public var recorded: String
    public var recomputed: String
  }

  public struct Values: Hashable, Sendable, Codable {
    /// Outcomes at sinks, ends of bodies, and what routes and forEachs chose by.
    public var compared = 0
    public var different = 0
    /// Without pixels, or with others than the pipeline saw.
    public var notComputed = 0
    /// Whether the frames are stored with the pixels that the pipeline saw; else values may differ.
    public var hasExactPixels = false
    public var first: ValueDivergence?

    public init() {}
  }

  public var v = 1
  public var session: String
  public var run: Int
  public var pipeline: String
  /// The pipeline is not the one that was recorded, so what differs says nothing of the record.
  public var hasOtherPipeline: Bool?
  /// External events that were told again.
  public var events = 0
  public var recordedDecisions = 0
  public var reproducedDecisions = 0
  public var divergence: Divergence?
  public var values = Values()
  public var frames = FrameLedger()
  public var lostBeforeCapture = 0
  public var decisionDigest = Digest128.zero
  public var wallSeconds: Double = 0

  public init(session: String, run: Int, pipeline: String) {
    self.session = session
    self.run = run
    self.pipeline = pipeline
  }

  /// Every live decision was made again, and none besides.
  public var isReproduced: Bool { divergence == nil }

  /// Values differ although the frames are as the pipeline saw them.
  public var hasUnexplainedValues: Bool { values.different > 0 && values.hasExactPixels }
}
