import RetakeCore
import RetakeGraph

/// How many labels an ensemble gives.
public struct MeanClassesOptions: StageOptions, Hashable {
  /// The best so many labels, 1 to 1,024.
  public var top = 5

  public init() {}

  public init(top: Int) {
    self.top = top
  }
}

/// The mean score of each label over what several classifiers said, for a join of classes.
///
/// Parts that did not come do not count; a label that a part does not name has the score 0 there,
/// and one that it names several times its first score. The best comes first, among equals in the
/// order of the labels' bytes; NaN comes last. A part that is no classes fails the frame with
/// `ensemble.otherType`.
public struct MeanClasses: PureStage {
  public typealias Options = MeanClassesOptions

  public static let kind = "mean-classes"
  public static let summary = "joins what classifiers said: the mean score of each label"

  public let options: MeanClassesOptions

  /// - Throws: `OptionError` for a count out of its bounds.
  public init(options: MeanClassesOptions) throws(OptionError) {
    try OptionError.require(options.top, "top", in: 1...1_024)
    self.options = options
  }

  public func process(_ joined: Joined, _ context: StageContext) throws(StageError) -> Classes {
    let parts = try joined.parts(all: Classes.self)
    var sums: [String: Double] = [:]
    for part in parts {
      var seen: Set<String> = []
      for item in part.items where seen.insert(item.label).inserted {
        sums[item.label, default: 0] += item.score
      }
    }
    // Sorted by the labels first, so that no order of a dictionary reaches the result.
    let means = sums.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      .map { Classification(label: $0.key, score: $0.value / Double(parts.count)) }
    let order = means.indices.sorted {
      means[$0].score.comesBefore(means[$1].score) ?? ($0 < $1)
    }
    return Classes(order.prefix(options.top).map { means[$0] })
  }
}

extension Double {
  /// Whether this score ranks above the other: the larger first, NaN last; `nil` for equals.
  func comesBefore(_ other: Double) -> Bool? {
    if self > other || !isNaN && other.isNaN { return true }
    return self < other || isNaN && !other.isNaN ? false : nil
  }
}
