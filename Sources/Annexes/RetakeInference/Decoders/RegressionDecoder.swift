import RetakeCore

/// The numbers of a model's output as they are, one scalar each; for example of a tree ensemble.
///
/// The labels name the scalars. Without labels, a single scalar is `value`, and several scalars are
/// `value0`, `value1`, ….
struct RegressionDecoder: OutputDecoder {
  let name = DecoderName.regression
  static let expectedShapes = "one output of 1xn, a number for each of n labels"
  /// The most numbers of a frame that become results.
  private static let numbersMax = 256
  private let settings: DecoderSettings

  init(_ settings: DecoderSettings) { self.settings = settings }

  func accepts(_ shapes: [[Int?]]) -> Bool {
    guard shapes.count == 1 else { return false }
    guard !shapes[0].isEmpty else { return true }
    return ClassScores.accepts(shapes[0])
      && shapes[0].allSatisfy { ($0 ?? 1) <= Self.numbersMax }
  }

  func read(
    _ outputs: DecoderInputs, _ geometry: ImageGeometry
  ) throws -> Decoded {
    .scalars(try scalars(outputs))
  }

  /// The numbers of a model that reads no picture.
  func scalars(_ outputs: [ModelTensor]) throws -> Scalars {
    try require(outputs.map { $0.shape.map(Optional.some) })
    return try scalars(DecoderInputs(outputs, name))
  }

  private func scalars(_ outputs: DecoderInputs) throws -> Scalars {
    let values = try ClassScores.finite(outputs, 0)
    guard settings.labels.isEmpty || settings.labels.count == values.count else {
      throw outputs.labelsMismatch(expected: values.count, actual: settings.labels.count)
    }
    return Scalars(
      values.enumerated().map { index, value in
        Scalars.Entry(name(index, of: values.count), value)
      })
  }

  private func name(_ index: Int, of count: Int) -> String {
    guard settings.labels.isEmpty else { return settings.labels[index] }
    return count == 1 ? "value" : "value\(index)"
  }
}
