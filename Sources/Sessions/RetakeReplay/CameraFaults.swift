import RetakeCore

/// Faults of a camera that every source of a replay gets, drawn from a seed: lost frames, images
/// that freeze, and uneven times.
///
/// The string form is that of an override: `camera:drop=10%,freeze=300ms,jitter=20ms,seed=1`. A
/// stronger fault contains the weaker ones of the same seed: a frame that is lost with 5 % is lost
/// with 10 %, too.
package struct CameraFaults: Hashable, Sendable {
  package static let word = "camera:"
  /// One freeze begins in each of these spans, in its first half; so a freeze is at most as long.
  static let freezeEvery: Int64 = 2_000_000_000
  package static let freezeMax = Duration.seconds(1)
  package static let jitterMax = Duration.seconds(1)

  /// Frames that are lost, in thousandths of a percent.
  package var drop = 0
  /// How long the image stays the same, once in two seconds.
  package var freeze = Duration.zero
  /// How much later than recorded a frame can be.
  package var jitter = Duration.zero
  package var seed: UInt64 = 0

  package init() {}

  /// Parses `drop=10%,freeze=300ms`, in any order.
  ///
  /// - Throws: `ReplayError.badOverride`.
  init(parsing text: Substring) throws {
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let words = part.split(separator: "=", omittingEmptySubsequences: false)
      let isSet =
        switch (words.first, words.count) {
        case ("drop", 2): Self.set(&drop, FixedPoint.parse(words[1], unit: "%", digits: 3))
        case ("freeze", 2): Self.set(&freeze, Self.duration(words[1], max: Self.freezeMax))
        case ("jitter", 2): Self.set(&jitter, Self.duration(words[1], max: Self.jitterMax))
        case ("seed", 2): Self.set(&seed, UInt64(words[1]).flatMap { $0 >> 53 == 0 ? $0 : nil })
        default: false
        }
      guard isSet, drop <= 100_000 else {
        throw ReplayError.badOverride(
          Self.word + text, detail: "'\(part)' is not a fault of a camera",
          advice: "Write it like camera:drop=10%,freeze=300ms,jitter=20ms,seed=1; a freeze and a "
            + "jitter are at most 1s")
      }
    }
  }

  private static func set<Value>(_ target: inout Value, _ value: Value?) -> Bool {
    guard let value else { return false }
    target = value
    return true
  }

  private static func duration(_ text: Substring, max: Duration) -> Duration? {
    Duration(parsing: text).flatMap { (.zero...max).contains($0) ? $0 : nil }
  }

  /// Without `camera:`, and without faults that are absent.
  package var text: String {
    var parts: [String] = []
    if drop > 0 { parts.append("drop=\(FixedPoint.text(drop, digits: 3))%") }
    if freeze > .zero { parts.append("freeze=\(freeze.unitText)") }
    if jitter > .zero { parts.append("jitter=\(jitter.unitText)") }
    return (parts + ["seed=\(seed)"]).joined(separator: ",")
  }
}
