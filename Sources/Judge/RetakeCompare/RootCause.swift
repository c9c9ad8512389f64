package import RetakeCore

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
    /// A file of stored results.
    case file
    /// Neither documents nor libraries changed, so the code of a stage did.
    case code
    /// No document changed, and the libraries of one of the runs are not known for this platform.
    case codeOrLibraries
  }

  /// The first frame that differs; `nil` if the cause concerns the run instead of a frame.
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
