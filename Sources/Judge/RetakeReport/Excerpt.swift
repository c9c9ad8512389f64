import Foundation

/// The first items of a list, and its total length.
package struct Excerpt<Element: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
  package var items: [Element]
  package var total: Int

  /// `total` is the number of items, unless more are known to exist.
  package init(_ items: [Element] = [], total: Int? = nil) {
    self.items = items
    self.total = max(items.count, total ?? items.count)
  }

  /// The number of items that are left out.
  package var left: Int { total - items.count }
}
