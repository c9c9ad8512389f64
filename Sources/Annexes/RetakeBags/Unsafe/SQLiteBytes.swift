import GRDB

extension Row {
  // SAFETY: GRDB lends the bytes until the cursor's next step; they are copied before.

  /// A copy of a BLOB's bytes.
  func blob(at index: Int) -> [UInt8] {
    (try? withUnsafeData(atIndex: index) { data in data.map { [UInt8]($0) } }) ?? []
  }
}
