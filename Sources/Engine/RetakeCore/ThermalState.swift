/// How hot the device is; later cases are hotter.
public enum ThermalState: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
  case nominal
  case fair
  case serious
  case critical

  /// Orders the states by heat: `nominal` is the smallest.
  public static func < (left: Self, right: Self) -> Bool { left.isBefore(right) }
}
