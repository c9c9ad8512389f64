/// Reads what a `ByteWriter` wrote, in the same order. It validates everything and throws on a
/// mismatch.
package struct ByteReader {
  /// The bytes do not have the expected form.
  package struct Mismatch: Error {
    package init() {}
  }

  private var rest: ArraySlice<UInt8>

  package init(_ bytes: ArraySlice<UInt8>) {
    rest = bytes
  }

  package var isAtEnd: Bool { rest.isEmpty }

  package mutating func word() throws -> UInt64 {
    guard rest.count >= 8 else { throw Mismatch() }
    defer { rest = rest.dropFirst(8) }
    return rest.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  package mutating func integer() throws -> Int {
    Int(Int64(bitPattern: try word()))
  }

  package mutating func double() throws -> Double { Double(bitPattern: try word()) }

  package mutating func content() throws -> [UInt8] {
    let count = try self.count()
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  package mutating func text() throws -> String {
    // Bytes that are not UTF-8 are damage. Repaired, they would be another value.
    guard let text = String(validating: try content(), as: UTF8.self) else { throw Mismatch() }
    return text
  }

  package mutating func digest() throws -> Digest128 {
    Digest128(high: try word(), low: try word())
  }

  /// The number of elements that follow, each of at least one byte.
  package mutating func count() throws -> Int {
    let count = try integer()
    // A damaged count must not make the caller allocate memory or loop for long.
    guard (0...rest.count).contains(count) else { throw Mismatch() }
    return count
  }

  /// - Throws: If bytes are left.
  package func end() throws {
    guard rest.isEmpty else { throw Mismatch() }
  }
}
