public import RetakeCore

/// Drops of a preview have begun to last, or have ended.
///
/// Usual causes are a hot device, or a vision pipeline that uses the processor; so an alarm reports
/// the state of both.
public struct DropAlarm: Hashable, Sendable, Codable {
  /// Whether the drops have ended; otherwise they have begun to last.
  public var hasEnded: Bool
  /// The time since the first frame, in nanoseconds.
  package var atNanoseconds: Int64
  /// The time that `offered`, `dropped` and `results` cover, in nanoseconds: when an alarm begins,
  /// the span before it; when it ends, that span and the alarm.
  package var spanNanoseconds: Int64
  /// Frames in that time, without frames that were left out because of the heat.
  public var offered: Int
  /// The number of these frames that were dropped.
  public var dropped: Int
  /// How hot the device is; `nil` if that is not known.
  public var thermal: ThermalState?
  /// How short of memory the device is; `nil` if that is not known.
  package var memory: MemoryPressure?
  /// Frames in that time for which the vision pipeline returned results.
  package var results: Int
  /// How much older than the newest frame the frame of the newest result is, in nanoseconds; `nil`
  /// without a result.
  public var resultAgeNanoseconds: Int64?

  /// For people: `the preview drops frames: 14 of 120 in 2.0 s; …`.
  public var description: String {
    let drops = "\(dropped) of \(offered) in \(Self.seconds(spanNanoseconds))"
    if hasEnded { return "the preview shows its frames again, after \(drops)" }
    let heat = thermal.map { "\($0.rawValue) heat" } ?? "its heat is not known"
    let device = [heat, memory.map { "\($0.rawValue) memory" }].compactMap(\.self)
    let vision =
      resultAgeNanoseconds.map {
        "\(results) results in that time, the newest \(Self.seconds($0)) old"
      } ?? "no results"
    return "the preview drops frames: \(drops); device: \(device.joined(separator: ", ")); "
      + "vision: \(vision)"
  }

  /// `2.0 s`, with the nearest tenth.
  private static func seconds(_ nanoseconds: Int64) -> String {
    FixedPoint.seconds(max(0, nanoseconds), digits: 1) + " s"
  }
}

extension DropAlarm: CustomStringConvertible {}
