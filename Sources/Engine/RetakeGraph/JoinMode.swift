/// The condition under which a join continues.
public enum JoinMode: String, Hashable, Sendable, CaseIterable, Codable {
  /// With the values of all ports.
  case all
  /// With the values that have arrived, at least one.
  case any
}
