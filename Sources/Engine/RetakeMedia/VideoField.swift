/// A field of an interlaced frame: every second row. A camera exposes the two fields one after the
/// other, so a moving edge differs from row to row.
public enum VideoField: String, Hashable, Sendable, Codable, CaseIterable {
  /// The rows 0, 2, 4 and so on.
  case top
  /// The rows 1, 3, 5 and so on.
  case bottom
}
