/// A dense array of 32-bit floats, row-major.
public struct Tensor: Hashable, Sendable, Codable {
  /// The sizes of the dimensions, outermost first. Empty for a single number.
  public var shape: [Int]
  /// The last dimension changes fastest. Results contain a digest in place of the elements.
  public var elements: [Float]

  /// Ends the process if the product of `shape` is not the number of elements.
  public init(shape: [Int], elements: [Float]) {
    requirement(shape.reduce(1, *) == elements.count, "the shape counts the elements")
    self.shape = shape
    self.elements = elements
  }
}
