/// Values that are costly to make, and that exist once for each key as long as someone uses them.
package final class SharedValues<Key: Hashable & Sendable, Value: AnyObject & Sendable>: Sendable {
  private struct Entry: Sendable {
    weak var value: Value?
  }

  private let entries = Locked<[Key: Entry]>([:])

  package init() {}

  /// The value that is in use, or a new one.
  ///
  /// - Throws: The error of `make`.
  package func value<Failure: Error>(
    of key: Key, make: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    if let value = entries.withLock({ $0[key]?.value }) { return value }
    // Without the lock, because `make` may need seconds.
    let value = try make()
    return entries.withLock { all in
      all = all.filter { $0.value.value != nil }
      // Another thread may have made the same meanwhile; which one is used makes no difference.
      if let first = all[key]?.value { return first }
      all[key] = Entry(value: value)
      return value
    }
  }
}
