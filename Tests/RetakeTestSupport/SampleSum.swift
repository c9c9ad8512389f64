extension [UInt8] {
  /// The sum of a plane's samples. Targets that compile without optimization need fifty times as
  /// long for such a loop.
  package var sum: Int { reduce(0) { $0 + Int($1) } }
}
