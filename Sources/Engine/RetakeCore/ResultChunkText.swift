/// The text of one results file.
package struct ResultChunkText: Sendable {
  /// Counts from 0.
  package var index: Int
  package var bytes: [UInt8]

  /// `results-00000.gold`
  package var name: String { Self.name(index) }

  package static func name(_ index: Int) -> String {
    let digits = String(index)
    return "results-" + String(repeating: "0", count: max(0, 5 - digits.count)) + digits + ".gold"
  }
}
