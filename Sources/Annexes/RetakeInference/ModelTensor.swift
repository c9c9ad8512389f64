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

  /// The index of the first element that is infinite or no number; `nil` if all are finite.
  package var firstNonFinite: Int? {
    switch elements {
    case .float(let values): values.firstIndex { !$0.isFinite }
    case .double(let values): values.firstIndex { !$0.isFinite }
    case .uint8, .int32, .int64: nil
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
