import RetakeCore

/// The scores of the classes of a frame, before they become labels.
struct ClassScores {
  private let scores: [Double]
  private let settings: DecoderSettings

  /// - Throws: `DecodingMismatch.labels` if there are labels, but not one for each class.
  init(
    _ scores: [Double], _ settings: DecoderSettings, _ outputs: DecoderInputs
  ) throws {
    guard settings.labels.isEmpty || settings.labels.count == scores.count else {
      throw outputs.labelsMismatch(expected: scores.count, actual: settings.labels.count)
    }
    (self.scores, self.settings) = (scores, settings)
  }

  /// The numbers of an output, each of which must be finite.
  static func finite(
    _ outputs: DecoderInputs, _ output: Int
  ) throws -> [Double] {
    let values = outputs.doubles(output)
    for (index, value) in values.enumerated() where !value.isFinite {
      throw outputs.notFinite(value, output, index)
    }
    return values
  }

  /// The best labels first; of equal scores, the first class.
  func best(_ count: Int, above threshold: Double) -> Classes {
    let order = scores.indices.sorted { (scores[$1], $0) < (scores[$0], $1) }
    let kept = order.prefix(count).filter { scores[$0] > threshold }
    return Classes(
      kept.map { Classification(label: settings.label($0), score: scores[$0]) })
  }

  /// Whether a shape has one number for each class, and no second dimension.
  static func accepts(_ shape: [Int?]) -> Bool {
    // Exports add dimensions of one: 1xn, 1xnx1x1. An unknown one is usually the batch.
    let long = shape.filter { $0 != 1 && $0 != nil }
    return !shape.isEmpty && long.count <= 1 && !shape.contains(0)
  }
}
