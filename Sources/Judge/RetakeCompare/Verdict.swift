/// The outcome of a comparison in one word.
package enum Verdict: String, Hashable, Sendable, Codable, CaseIterable {
  case passed
  case changed
  /// The case has no accepted golden, or no golden for this platform.
  case missing
  /// The session or the case of a golden no longer exists.
  case stale
  /// Another session, track, case, precision or device.
  case notComparable = "not comparable"
  /// The comparison could not be done: the golden is damaged, or no frame was compared.
  case errored
}
