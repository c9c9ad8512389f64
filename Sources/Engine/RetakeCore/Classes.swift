/// Labels for the whole frame, best first.
public struct Classes: Hashable, Sendable, Codable {
  /// Results have the labels in this order.
  public var items: [Classification]

  /// Keeps the order of `items`: the stage sorts them by score.
  public init(_ items: [Classification]) {
    self.items = items
  }
}
