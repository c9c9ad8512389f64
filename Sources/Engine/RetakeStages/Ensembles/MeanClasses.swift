package import RetakeCore
package import RetakeGraph

/// The number of labels that an ensemble returns.
package struct MeanClassesOptions: StageOptions, Hashable {
  @OptionValue("best labels that are returned, {range}", in: 1...1_024) package var top = 5

  package init() {}

  package init(top: Int) { self.top = top }
}

/// The mean score of each label over the results of several classifiers, for a join of classes.
///
/// Missing parts do not count. A label has the score 0 in a part that does not contain it; if a
/// part contains it several times, its first score counts. The best comes first; equal scores are
/// in the order of the labels' bytes; NaN comes last. A part that is not classes fails the frame
/// with `ensemble.otherType`.
package struct MeanClasses: PureStage {
  package static let kind = "mean-classes"
  package static let summary = "joins the results of classifiers: the mean score of each label"

  package let options: MeanClassesOptions

  /// - Throws: `OptionError` for a count that is out of bounds.
  package init(options: MeanClassesOptions) throws {
    try options.checkRanges()
    self.options = options
  }

  package func process(_ joined: Joined, _ context: StageContext) throws -> Classes {
    let parts = try joined.parts(all: Classes.self)
    var sums: [String: Double] = [:]
    // In the order of the ports, so that each sum of floating-point numbers has one order.
    for part in parts {
      var seen: Set<String> = []
      for item in part.items where seen.insert(item.label).inserted {
        sums[item.label, default: 0] += item.score
      }
    }
    // Sorted by label first, because the order of a dictionary must not affect the result.
    let means = sums.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      .map { Classification(label: $0.key, score: $0.value / Double(parts.count)) }
    let order = means.indices.sorted {
      means[$0].score.comesBefore(means[$1].score) ?? ($0 < $1)
    }
    return Classes(order.prefix(options.top).map { means[$0] })
  }
}

extension Double {
  /// Whether this score ranks above the other: higher first, NaN last; `nil` for equal scores.
  func comesBefore(_ other: Double) -> Bool? {
    // NaN is neither above nor below a number, and `sorted` needs an order that holds for all.
    if self > other || !isNaN && other.isNaN { return true }
    return self < other || isNaN && !other.isNaN ? false : nil
  }
}
