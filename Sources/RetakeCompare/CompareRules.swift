import RetakeCore

/// How the results of one sink are compared: what counts as the same.
///
/// 0 is a tolerance, not "unset"; the smallest tolerance that allows anything is one quantum of
/// the sink.
public struct SinkRule: Hashable, Sendable {
  public enum Mode: String, Hashable, Sendable, Codable, CaseIterable {
    /// Every line as it stands.
    case exact
    /// Numbers within `scalar` and `score`, detections one by one in their order.
    case numeric
    /// Detections paired by overlap and identity, then compared within `position` and `score`.
    case boxes
  }

  public enum Order: String, Hashable, Sendable, Codable, CaseIterable {
    case any
    /// The n-th detection is compared with the n-th.
    case significant
  }

  public var mode: Mode = .boxes
  /// The least overlap (intersection over union, 0 to 1) of two boxes that are the same object.
  public var iou = 0.5
  /// The largest difference of x, y, width and height, each, in pixels.
  public var position = 0.0
  /// The largest difference of a score.
  public var score = 0.0
  /// The largest difference of scalars and of waveform samples.
  public var scalar = 0.0
  /// Boxes without a partner, in either run, over all frames.
  public var unmatchedMax = 0
  /// How far the mean error of 1,000 frames may lie from that of the 1,000 before, in pixels;
  /// for sinks without boxes in the scalar's unit.
  public var driftPer1000 = 0.0
  public var order: Order = .any

  public init(mode: Mode = .boxes) {
    self.mode = mode
  }

  /// Boxes by overlap, and no difference allowed.
  public static let standard = SinkRule()
}

extension SinkRule: Codable {
  /// The keys of the YAML form, in order.
  public enum CodingKeys: String, CodingKey, CaseIterable {
    case mode, iou, position, score, scalar, unmatchedMax, driftPer1000, order
  }

  /// What is left out is standard.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    mode = try fields.decodeIfPresent(Mode.self, forKey: .mode) ?? mode
    iou = try fields.decodeIfPresent(Double.self, forKey: .iou) ?? iou
    position = try fields.decodeIfPresent(Double.self, forKey: .position) ?? position
    score = try fields.decodeIfPresent(Double.self, forKey: .score) ?? score
    scalar = try fields.decodeIfPresent(Double.self, forKey: .scalar) ?? scalar
    unmatchedMax = try fields.decodeIfPresent(Int.self, forKey: .unmatchedMax) ?? unmatchedMax
    driftPer1000 = try fields.decodeIfPresent(Double.self, forKey: .driftPer1000) ?? driftPer1000
    order = try fields.decodeIfPresent(Order.self, forKey: .order) ?? order
    for value in [iou, position, score, scalar, driftPer1000] where !(value >= 0) {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "a tolerance is 0 or more"))
    }
  }

  /// Only the keys that the mode looks at.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    for key in Self.keys(of: self) {
      switch key {
      case .mode: try fields.encode(mode, forKey: key)
      case .iou: try fields.encode(iou, forKey: key)
      case .position: try fields.encode(position, forKey: key)
      case .score: try fields.encode(score, forKey: key)
      case .scalar: try fields.encode(scalar, forKey: key)
      case .unmatchedMax: try fields.encode(unmatchedMax, forKey: key)
      case .driftPer1000: try fields.encode(driftPer1000, forKey: key)
      case .order: try fields.encode(order, forKey: key)
      }
    }
  }

  private static func keys(of rule: SinkRule) -> [CodingKeys] {
    switch rule.mode {
    case .exact: [.mode]
    case .numeric: [.mode, .score, .scalar, .driftPer1000]
    case .boxes:
      rule.scalar == 0
        ? [.mode, .iou, .position, .score, .unmatchedMax, .driftPer1000, .order]
        : CodingKeys.allCases
    }
  }
}

/// The rules of a case by the path of the sink, or by the name of a mode for all sinks of that
/// kind.
public struct CompareRules: Hashable, Sendable, Codable {
  public var bySink: [String: SinkRule]

  public init(_ bySink: [String: SinkRule] = [:]) {
    self.bySink = bySink
  }

  /// A rule under the name of a mode has that mode unless it says another.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    bySink = try container.decode([String: SinkRule].self)
    let given = try container.decode([String: GivenMode].self)
    for (name, rule) in bySink where given[name]?.mode == nil {
      if let mode = SinkRule.Mode(rawValue: name) {
        var rule = rule
        rule.mode = mode
        bySink[name] = rule
      }
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(bySink)
  }

  private struct GivenMode: Codable {
    var mode: SinkRule.Mode?
  }

  /// The rule for a sink: its own, else that of the mode that suits what it receives, else the
  /// standard one of that mode.
  public func rule(for sink: String, suited mode: SinkRule.Mode = .boxes) -> SinkRule {
    bySink[sink] ?? bySink[mode.rawValue] ?? SinkRule(mode: mode)
  }
}
