import RetakeCompare
import RetakeCore

extension GoldenFolder {
  /// The decisions that decisions.gold has line by line, in their order; those that are only in
  /// its digests are passed over.
  ///
  /// - Returns: Nanoseconds on the session's time line at which virtual time is zero.
  /// - Throws: `GoldenError.fileMissing`, or what is wrong with the file.
  @discardableResult
  package func eachDecision(_ body: (DecisionLine) -> Void) throws(GoldenError) -> Int64 {
    let reader = try DecisionFileReader(file(Self.decisionsName))
    // Ends with the file.
    while let line = try reader.nextLine() {
      if case .line(let decision) = try reader.entry(line) { body(decision) }
    }
    return reader.origin
  }
}
