/// Why a frame was dropped. Drops are losses; thinning and superseding are by design.
public enum DropReason: String, Hashable, Sendable, Codable, CaseIterable {
  case queue
  case pool
  case timeout
  case partnerMissing
}

/// How a frame ended at one sink.
public enum FrameFate: Hashable, Sendable {
  case delivered
  case dropped(DropReason)
  /// Removed by design. The reason is the kind of the node that removed it, such as `throttle`.
  case throttled(by: String)
  /// Replaced by a newer frame on a replace edge.
  case replaced
  /// Failed with the stage's stable code.
  case failed(code: String)
  /// Not settled when the run ended.
  case inFlight

  /// The name in result and decision lines.
  package var word: String {
    switch self {
    case .delivered: "deliver"
    case .dropped: "drop"
    case .throttled: "thin"
    case .replaced: "supersede"
    case .failed: "fail"
    case .inFlight: "inFlight"
    }
  }

  /// The reason in result and decision lines; `-` if the fate needs none.
  package var reason: String {
    switch self {
    case .dropped(let reason): reason.rawValue
    case .throttled(let kind): kind
    case .failed(let code): code
    case .delivered, .replaced, .inFlight: "-"
    }
  }

  /// The inverse of `word` and `reason`; `nil` for unknown strings.
  package init?(word: some StringProtocol, reason: some StringProtocol) {
    switch word {
    case "deliver": self = .delivered
    case "drop":
      guard let reason = DropReason(rawValue: String(reason)) else { return nil }
      self = .dropped(reason)
    case "thin": self = .throttled(by: String(reason))
    case "supersede": self = .replaced
    case "fail": self = .failed(code: String(reason))
    case "inFlight": self = .inFlight
    default: return nil
    }
  }
}

/// The outcome of one captured frame at one sink.
public struct SinkOutcome: Hashable, Sendable {
  /// What the sink received, or how the frame ended before it reached the sink.
  public enum Content: Hashable, Sendable {
    case facts([ResultFact])
    /// The frame did not arrive: how it ended, and at which node.
    case ended(FrameFate, node: String)
  }

  /// The ID of the sink's node.
  public var sink: String
  /// What became of the frame at this sink.
  public var content: Content

  /// An outcome as a run reports it, for example to compare with in a test.
  public init(sink: String, content: Content) {
    self.sink = sink
    self.content = content
  }
}

/// All outcomes of one captured frame: the unit of a results file.
public struct FrameResult: Hashable, Sendable {
  /// The captured frame.
  public var id: FrameID
  /// In the track's time base; `nil` if the frame had none.
  public var pts: Int64?
  /// One per sink, sinks in rising order of their path.
  public var outcomes: [SinkOutcome]

  /// `outcomes` have to be in rising order of the sinks' paths; they are stored as given.
  package init(id: FrameID, pts: Int64?, outcomes: [SinkOutcome]) {
    self.id = id
    self.pts = pts
    self.outcomes = outcomes
  }
}
