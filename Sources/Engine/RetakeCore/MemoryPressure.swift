/// How short of memory the device is; later cases are shorter.
public enum MemoryPressure: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
  case normal
  case warning
  case critical

  /// Orders the states by severity: `normal` is the smallest.
  public static func < (left: Self, right: Self) -> Bool { left.isBefore(right) }
}
