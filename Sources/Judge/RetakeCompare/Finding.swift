package import RetakeCore

/// One difference between a golden and a run that the rules do not allow.
package struct Finding: Hashable, Sendable, Codable {
  package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// Frames that only the golden has.
    case frameLost
    /// Frames that only the run has.
    case frameInserted
    /// For example delivered instead of dropped, or dropped for another reason.
    case fateChanged
    case timeChanged
    case boxAppeared, boxDisappeared, boxMoved
    case classChanged, identityChanged, scoreChanged
    case numberChanged
    /// A different label has the highest score.
    case labelChanged
    case textChanged, waveformChanged, pictureChanged
    /// Any other fact that is either equal or not: a digest, a shape.
    case factChanged
    case factAppeared, factDisappeared
    case decisionAdded, decisionRemoved, decisionMoved, decisionChanged
    /// Only start, done, deliver, block or unblock differ.
    case decisionsDiffer
    case nodeAdded, nodeRemoved
    case sinkAdded, sinkRemoved
    case classesChanged
    case drift
    case budget
    /// A change that is marked as known no longer exists.
    case knownChangeGone
  }

  package var kind: Kind
  /// The first frame concerned; `nil` if the finding concerns the whole run.
  package var frame: FrameID?
  /// The number of consecutive frames: 1 unless frames were lost or inserted.
  package var frameCount = 1
  /// Virtual time in nanoseconds, if it is known.
  package var time: Int64?
  /// The sink, or for decisions the node.
  package var node: String?
  package var golden: String?
  package var actual: String?
  /// The error, in the unit of the compared values; `nil` if it is not a finite number.
  package var magnitude: Double?
  /// The error that the rules allow, in the same unit.
  package var allowed: Double?
  /// One sentence.
  package var message: String
  /// What it follows from, nearest first: earlier decisions that differ.
  package var because: [String] = []
  /// Index into the comparison's root causes.
  package var root: Int?

  package init(
    _ kind: Kind, frame: FrameID? = nil, frameCount: Int = 1, time: Int64? = nil,
    node: String? = nil, golden: String? = nil, actual: String? = nil, magnitude: Double? = nil,
    allowed: Double? = nil, message: String
  ) {
    self.kind = kind
    self.frame = frame
    self.frameCount = frameCount
    self.time = time
    self.node = node
    self.golden = golden
    self.actual = actual
    // JSON has no infinity, which is the error of a NaN against a number.
    self.magnitude = magnitude.flatMap { $0.isFinite ? $0 : nil }
    self.allowed = allowed
    self.message = message
  }
}

/// Why a run differs: the earliest place from which later differences follow.
package struct RootCause: Hashable, Sendable, Codable {
  package enum Why: String, Hashable, Sendable, Codable {
    case outputDiffers = "output differs while its inputs are equal"
    case ranOnOneSide = "ran for this frame in one run only"
    case decisionDiffers = "the decision differs"
    case frameLost = "the frame is missing"
    case frameInserted = "the frame is new"
    case nodeAdded = "the node is new"
    case nodeRemoved = "the node is gone"
    case inputsRewired = "its inputs come from other nodes"
    case sinkChanged = "the sinks are not the same"
    case budget = "over budget"
    case knownChangeGone = "a known change is gone"
    case drift = "the error drifts inside the tolerance"
    case seenAtSink = "seen first at the sink; there are no stage digests to look behind it"
  }

  /// The origin of the difference, as far as the descriptions of the two runs show it.
  package enum Origin: String, Hashable, Sendable, Codable {
    /// Libraries or Retake itself have other versions, and the pipeline did not change: the machine
    /// behaves differently, not the pipeline.
    case environment
    /// The pipeline's document changed.
    case pipeline
    /// A file that the command of a program names.
    case program
    case model
    /// Neither documents nor libraries changed, so the code of a stage did.
    case code
    /// No document changed, and the libraries of one of the runs are not known for this platform.
    case codeOrLibraries
  }

  /// The first frame that differs; `nil` if the cause concerns the whole run.
  package var frame: FrameID?
  /// Virtual time in nanoseconds, if it is known.
  package var time: Int64?
  package var stage: String?
  package var why: Why
  /// `nil` if it is not known.
  package var origin: Origin?
  /// The nodes before `stage` in topological order whose output at this frame is equal.
  package var equalBefore: [String] = []
  /// Findings with this cause.
  package var findings = 0
  /// Findings with this cause at later frames.
  package var downstream = 0
  /// The largest error of its findings, in the unit of the compared values.
  package var largest: Double = 0

  package init(
    frame: FrameID? = nil, time: Int64? = nil, stage: String? = nil, why: Why,
    equalBefore: [String] = []
  ) {
    self.frame = frame
    self.time = time
    self.stage = stage
    self.why = why
    self.equalBefore = equalBefore
  }

  /// The same in every run with the same cause: `motion@0:12`.
  package var id: String { (stage ?? why.rawValue) + (frame.map { "@\($0)" } ?? "") }
}
