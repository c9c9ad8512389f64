/// The numbers of a model's outputs, as 32-bit floats.
package struct DecoderInputs: Sendable {
  let shapes: [[Int]]
  private let tensors: [ModelTensor]
  private let decoder: DecoderName

  init(_ tensors: [ModelTensor], _ decoder: DecoderName) {
    self.tensors = tensors
    self.decoder = decoder
    shapes = tensors.map(\.shape)
  }

  /// The numbers of an output; only 32-bit floats are not converted.
  func floats(_ output: Int) -> [Float] {
    switch tensors[output].elements {
    case .float(let values): values
    case .double(let values): values.map(Float.init)
    case .uint8(let values): values.map(Float.init)
    case .int32(let values): values.map(Float.init)
    case .int64(let values): values.map(Float.init)
    }
  }

  /// The numbers of an output without loss, except of integers beyond 2^53.
  func doubles(_ output: Int) -> [Double] {
    switch tensors[output].elements {
    case .float(let values): values.map(Double.init)
    case .double(let values): values
    case .uint8(let values): values.map(Double.init)
    case .int32(let values): values.map(Double.init)
    case .int64(let values): values.map(Double.init)
    }
  }

  func isFloatingPoint(_ output: Int) -> Bool {
    switch tensors[output].elements {
    case .float, .double: true
    case .uint8, .int32, .int64: false
    }
  }

  /// The error for a number that is NaN or infinite.
  func notFinite(_ value: some BinaryFloatingPoint, _ output: Int, _ element: Int)
    -> DecodingMismatch
  {
    let text = value.isNaN ? "NaN" : value < 0 ? "-inf" : "inf"
    return .notFinite(decoder: decoder, output: output, element: element, value: text)
  }

  /// The element, after checking that it is a number.
  func finite(
    _ values: [Float], _ element: Int, of output: Int
  ) throws -> Double {
    let value = values[element]
    guard value.isFinite else { throw notFinite(value, output, element) }
    return Double(value)
  }

  /// e to the power of the element, which must be a number, too.
  func exponential(
    _ values: [Float], _ element: Int, of output: Int
  ) throws -> Double {
    let power = ExactExponential.exp(try finite(values, element, of: output))
    guard power.isFinite else { throw notFinite(power, output, element) }
    return power
  }

  func labelsMismatch(expected: Int, actual: Int) -> DecodingMismatch {
    .labels(decoder: decoder, expected: expected, actual: actual)
  }
}

extension [Int?] {
  /// Whether a shape can be this one. `nil` matches everything, on both sides.
  func fits(_ pattern: [Int?]) -> Bool {
    count == pattern.count
      && zip(self, pattern).allSatisfy { $0 == nil || $1 == nil || $0 == $1 }
  }

  /// Whether a dimension is at least this long, or not known.
  func has(_ index: Int, atLeast length: Int) -> Bool {
    indices.contains(index) && (self[index] ?? length) >= length
  }
}
