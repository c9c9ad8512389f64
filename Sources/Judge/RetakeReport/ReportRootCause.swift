package import RetakeCompare
package import RetakeCore

/// Where a difference starts: the earliest (frame, stage) whose output differs although its inputs
/// are equal, or a decision that differs.
package struct ReportRootCause: Hashable, Sendable, Codable {
  package enum Kind: String, Hashable, Sendable, Codable {
    /// A stage returned a different value.
    case value
    /// The time plane made a different decision.
    case decision
    /// The pipeline has different nodes or edges.
    case graph
    /// The input itself differs.
    case input
  }

  /// Unique within its case; findings refer to it.
  package var id: String
  package var kind: Kind
  /// `nil` if the cause does not belong to a single frame.
  package var frame: FrameID?
  /// In the track's time base.
  package var pts: Int64?
  /// Virtual time.
  package var timeNanoseconds: Int64?
  /// `nil` if the cause concerns the run instead of a stage.
  package var stage: String?
  /// The line of the stage in the case's document, from 1; `nil` if it is not known.
  package var line: Int?
  /// "output differs while its inputs are equal".
  package var why: String
  /// The nodes before the stage whose output at this frame is equal.
  package var equalBefore: [String] = []
  package var findings: Int
  /// Later differences that follow from this one.
  package var downstream: Int
  /// The largest difference of the results: "boxes differ by at most 0.4 px (0.1 px
  /// allowed)".
  package var extent: String?
  /// The replay command first, the accept command last.
  package var commands: [ReportCommand] = []
  /// The statuses that differ from the statuses of the case's own graph.
  package var statuses: [NodeStatus] = []
  package var expected: KnownChange?

  package init(
    id: String, kind: Kind = .value, frame: FrameID?, pts: Int64? = nil,
    timeNanoseconds: Int64? = nil, stage: String?, why: String, findings: Int, downstream: Int = 0
  ) {
    self.id = id
    self.kind = kind
    self.frame = frame
    self.pts = pts
    self.timeNanoseconds = timeNanoseconds
    self.stage = stage
    self.why = why
    self.findings = findings
    self.downstream = downstream
  }
}

/// An edge between two nodes, by their ids.
package struct ReportEdge: Hashable, Sendable, Codable {
  package var from: String
  package var to: String
  package var policy: String?
  package var capacity: Int?

  package init(from: String, to: String, policy: String? = nil, capacity: Int? = nil) {
    self.from = from
    self.to = to
    self.policy = policy
    self.capacity = capacity
  }
}
