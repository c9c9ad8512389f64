public import RetakeCore

/// The result of reproducing a live run.
public struct ReproductionReport: Hashable, Sendable, Codable {
  /// The first difference of the decisions. All later differences may follow from it.
  public struct Divergence: Hashable, Sendable, Codable {
    /// The index of the decision, from 0.
    public var decision: Int
    /// The external event that was being handled; nil if the record ended before.
    public var event: Int?
    /// The recorded line; nil if the record has no more lines.
    public var recorded: String?
    /// The new line; nil if no line was decided.
    public var reproduced: String?
    /// Why the record could not be followed, if that is known.
    public var detail: String?
  }

  /// A recomputed value that differs from the recorded one.
  package struct ValueDivergence: Hashable, Sendable, Codable {
    package var frame: FrameID
    package var item: Int?
    /// The stage, route, forEach or sink.
    package var node: String
    package var recorded: String
    package var recomputed: String
  }

  package struct Values: Hashable, Sendable, Codable {
    /// Outcomes at sinks, ends of bodies, and the values that decided at routes and forEach nodes.
    package var compared = 0
    package var different = 0
    /// Values of frames without pixels, or with other pixels than the pipeline saw, and values of
    /// stages that remember such a frame.
    package var notComputed = 0
    /// Whether the frames are stored with the pixels that the pipeline saw. Otherwise values may
    /// differ.
    package var hasExactPixels = false
    package var first: ValueDivergence?

    package init() {}
  }

  package var v = 1
  package var session: String
  package var run: Int
  package var pipeline: String
  /// Whether the pipeline differs from the recorded one. Then differences do not mean that the
  /// record is wrong.
  package var hasOtherPipeline: Bool?
  /// External events that were handled again.
  package var events = 0
  package var recordedDecisions = 0
  package var reproducedDecisions = 0
  /// `nil` if every decision was made again.
  public var divergence: Divergence?
  package var values = Values()
  /// The outcomes of the frames at the primary sink.
  public var frames = FrameLedger()
  /// Of the source that `frames` counts.
  package var lostBeforeCapture = 0
  /// Counts of the sources where frames waited for a buffer; `nil` if no frame waited.
  package var waits: [WaitCounts]?
  /// Of the decision lines that were made again.
  public var decisionDigest = Digest128.zero
  package var wallSeconds: Double = 0

  package init(session: String, run: Int, pipeline: String) {
    self.session = session
    self.run = run
    self.pipeline = pipeline
  }

  /// Whether every live decision was made again, and no other.
  public var isReproduced: Bool { divergence == nil }

  /// Whether values differ although the frames have the pixels that the pipeline saw.
  package var hasUnexplainedValues: Bool { values.different > 0 && values.hasExactPixels }
}
