import RetakeCore
import RetakeRuntime

/// The result of reenacting a live run.
public struct ReenactReport: Hashable, Sendable, Codable {
  /// The first difference of the decisions. All later differences may follow from it.
  public struct Divergence: Hashable, Sendable, Codable {
    /// The index of the decision, from 0.
    public var decision: Int
    /// The external event that was being handled; nil if the record ended before.
    public var event: Int?
    /// The recorded line; nil if the record has no more lines.
    public var recorded: String?
    /// The new line; nil if no line was decided.
    public var reenacted: String?
    /// Why the record could not be followed, if that is known.
    public var detail: String?
  }

  /// A recomputed value that differs from the recorded one.
  public struct ValueDivergence: Hashable, Sendable, Codable {
    public var frame: FrameID
    public var item: Int?
    /// The stage, route, forEach or sink.
    public var node: String
    public var recorded: String
    public var recomputed: String
  }

  public struct Values: Hashable, Sendable, Codable {
    /// Outcomes at sinks, ends of bodies, and the values by which routes and forEach nodes decided.
    public var compared = 0
    public var different = 0
    /// Values of frames without pixels, or with other pixels than the pipeline saw.
    public var notComputed = 0
    /// Whether the frames are stored with the pixels that the pipeline saw. Otherwise values may
    /// differ.
    public var hasExactPixels = false
    public var first: ValueDivergence?

    public init() {}
  }

  public var v = 1
  public var session: String
  public var run: Int
  public var pipeline: String
  /// Whether the pipeline differs from the recorded one. Then differences do not mean that the
  /// record is wrong.
  public var hasOtherPipeline: Bool?
  /// External events that were handled again.
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

  /// Whether every live decision was made again, and no other.
  public var isReproduced: Bool { divergence == nil }

  /// Whether values differ although the frames have the pixels that the pipeline saw.
  public var hasUnexplainedValues: Bool { values.different > 0 && values.hasExactPixels }
}
