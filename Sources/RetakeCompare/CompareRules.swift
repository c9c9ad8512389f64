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
    /// Pictures by their pixels, as far as golden and run keep them: `psnrMin`, `ssimMin` and
    /// `densestMax` must all hold. Other facts as in `numeric`.
    case pictures
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
  /// As `scalar`, as a share of the golden number: the wider of the two counts.
  public var relative = 0.0
  /// Waveforms by their shape instead of sample by sample, where this, `correlationMin` or
  /// `lagMax` is set: the largest root mean square of the differences at the best lag.
  public var rmsMax = 0.0
  /// The least correlation of a waveform at the best lag.
  public var correlationMin = 0.0
  /// Samples by which a waveform may come later or earlier.
  public var lagMax = 0
  /// The least peak signal to noise ratio of two pictures, in decibels; 0 = it is not looked at.
  public var psnrMin = 0.0
  /// The least structural similarity of two pictures, 0 to 1.
  public var ssimMin = 1.0
  /// The largest share of changed pixels in any window of 16 x 16, 0 to 1.
  public var densestMax = 0.0
  /// Of so many frames one has its picture kept and compared.
  public var pictureEvery = 1
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
