import RetakeCore

/// A dense array of numbers with a shape, in row-major order: an input or an output of a model.
package struct ModelTensor: Hashable, Sendable {
  /// The numbers, by their type in the model.
  package enum Elements: Hashable, Sendable {
    case float([Float])
    case double([Double])
    case uint8([UInt8])
    case int32([Int32])
    case int64([Int64])

    package var count: Int {
      switch self {
      case .float(let values): values.count
      case .double(let values): values.count
      case .uint8(let values): values.count
      case .int32(let values): values.count
      case .int64(let values): values.count
      }
    }

    package var type: ElementType {
      switch self {
      case .float: .float
      case .double: .double
      case .uint8: .uint8
      case .int32: .int32
      case .int64: .int64
      }
    }
  }

  /// The types of elements that stages convert to and from.
  package enum ElementType: String, Hashable, Sendable, CaseIterable {
    case float, double, uint8, int32, int64
  }

  /// The length of each dimension, the outermost first; empty for a single number.
  package let shape: [Int]
  package let elements: Elements

  /// - Precondition: There are as many elements as the shape says.
  package init(_ elements: Elements, shape: [Int]) {
    precondition(
      shape.allSatisfy { $0 >= 0 } && shape.reduce(1, *) == elements.count,
      "a tensor of the shape \(shape) does not have \(counted(elements.count, "element"))")
    self.shape = shape
    self.elements = elements
  }

  /// One tensor of several images.
  ///
  /// - Precondition: There is a tensor, all have one type and shape, and a first dimension of 1.
  init(batch tensors: [ModelTensor]) {
    let shape = tensors[0].shape
    precondition(
      shape.first == 1 && tensors.allSatisfy { $0.shape == shape },
      "the tensors of a batch have one image each, of one shape")
    self.init(
      .joined(tensors.map(\.elements)), shape: [tensors.count] + shape.dropFirst())
  }

  /// The tensor of one image.
  ///
  /// - Throws: `InferenceError` unless the first dimension is the number of images.
  func part(_ index: Int, of count: Int) throws -> ModelTensor {
    guard shape.first == count else {
      throw InferenceError(
        "inference.output.batch",
        "an output has the shape \(shape), and not one entry for each of \(count) images")
    }
    let length = elements.count / count
    return ModelTensor(
      elements.part(index * length..<(index + 1) * length), shape: [1] + shape.dropFirst())
  }

  /// The index of the first element that is infinite or no number; `nil` if all are finite.
  package var firstNonFinite: Int? {
    switch elements {
    case .float(let values): values.firstIndex { !$0.isFinite }
    case .double(let values): values.firstIndex { !$0.isFinite }
    case .uint8, .int32, .int64: nil
    }
  }
}

extension ModelTensor.Elements {
  /// - Precondition: All have the type of the first.
  fileprivate static func joined(_ all: [Self]) -> Self {
    switch all[0] {
    case .float: .float(all.flatMap(\.floats))
    case .double: .double(all.flatMap(\.doubles))
    case .uint8: .uint8(all.flatMap(\.bytes))
    case .int32: .int32(all.flatMap(\.words))
    case .int64: .int64(all.flatMap(\.longs))
    }
  }

  private var floats: [Float] { if case .float(let values) = self { values } else { [] } }
  private var doubles: [Double] { if case .double(let values) = self { values } else { [] } }
  private var bytes: [UInt8] { if case .uint8(let values) = self { values } else { [] } }
  private var words: [Int32] { if case .int32(let values) = self { values } else { [] } }
  private var longs: [Int64] { if case .int64(let values) = self { values } else { [] } }

  fileprivate func part(_ range: Range<Int>) -> Self {
    switch self {
    case .float(let values): .float(Array(values[range]))
    case .double(let values): .double(Array(values[range]))
    case .uint8(let values): .uint8(Array(values[range]))
    case .int32(let values): .int32(Array(values[range]))
    case .int64(let values): .int64(Array(values[range]))
    }
  }
}

extension ModelTensor.ElementType {
  /// The bytes of one element.
  package var byteCount: Int {
    switch self {
    case .uint8: 1
    case .float, .int32: 4
    case .double, .int64: 8
    }
  }
}
