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
    case maskChanged, pointMoved, embeddingChanged
    /// A field of a JSON value.
    case fieldChanged
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
  /// The first frame concerned; `nil` if the finding concerns the run instead of a frame.
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
  /// The causes of the finding, nearest first: earlier decisions that differ.
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
