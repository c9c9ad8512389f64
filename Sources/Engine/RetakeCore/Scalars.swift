/// Named numbers, in the order of the stage.
public struct Scalars: Hashable, Sendable, Codable {
  /// One number with its name.
  public struct Entry: Hashable, Sendable, Codable {
    /// The name in results. A stage should use each name once per frame.
    public var name: String
    /// Rounded to the sink's `precision` in results; NaN and the infinities are kept.
    public var value: Double

    /// Any name and any number are allowed.
    public init(_ name: String, _ value: Double) {
      self.name = name
      self.value = value
    }
  }

  /// Results have the numbers in this order.
  public var entries: [Entry]

  /// Keeps the order of `entries`. Names should be unique: the subscript finds the first one.
  public init(_ entries: [Entry]) {
    self.entries = entries
  }

  /// The value of the first entry with this name; `nil` if no entry has it.
  public subscript(name: String) -> Double? { entries.first { $0.name == name }?.value }
}
