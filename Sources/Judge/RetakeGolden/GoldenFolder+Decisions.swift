package import RetakeCore

extension GoldenFolder {
  /// The decisions that decisions.gold contains line by line, in their order. Decisions that are
  /// only part of its digests are skipped.
  ///
  /// - Returns: Nanoseconds on the session's time line at which virtual time is zero.
  /// - Throws: `GoldenError.fileMissing`, or an error in the file.
  @discardableResult
  package func eachDecision(_ body: (DecisionLine) -> Void) throws -> Int64 {
    let reader = try DecisionFileReader(file(Self.decisionsName))
    // Ends at the end of the file.
    while let line = try reader.nextLine() {
      if case .line(let decision) = try reader.entry(line) { body(decision) }
    }
    return reader.origin
  }
}
