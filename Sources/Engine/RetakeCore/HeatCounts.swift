/// How hot the modelled device was in a run: docs/heat.md.
public struct HeatCounts: Hashable, Sendable, Codable {
  /// The highest temperature at the end of a tick, in thousandths of a degree Celsius.
  public var hottestMillidegrees = 0
  /// When it was reached first, in nanoseconds of virtual time; `nil` before the run has begun.
  public var hottestAtNanoseconds: Int64?
  /// The temperature at the end, in thousandths of a degree Celsius.
  public var lastMillidegrees = 0
  /// When the device was first `serious` or hotter; `nil` if it never was.
  public var seriousAtNanoseconds: Int64?
  /// How often the device got hotter and was then `serious` or `critical`.
  public var thermalEvents = 0
  /// Nanoseconds of virtual time in each state, by its name; states that never were are missing.
  public var nanoseconds: [String: Int64] = [:]
  /// The energy that became heat.
  public var millijoules = 0
  /// Bytes of the frames that stages have made.
  public var copiedBytes = 0

  package init() {}

  /// The time in a state, in nanoseconds.
  public subscript(state: ThermalState) -> Int64 { nanoseconds[state.rawValue] ?? 0 }
}
