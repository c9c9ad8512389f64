package import RetakeCore
import RetakeGraph

/// Converts a frame rate to a time base in which every frame lasts one unit.
package enum FrameRateText {
  /// Integer rates are exact; 23.976, 29.97, 59.94 and similar rates are n × 1000/1001; others are
  /// rounded to thousandths of a frame per second.
  ///
  /// - Throws: `OptionError` for the key `fps` unless the rate is 0.001 to 1,000.
  package static func timeBase(_ fps: Double) throws -> TimeBase {
    guard fps >= 0.001, fps <= 1_000 else {
      throw OptionError(key: "fps", message: "must be 0.001 to 1000, is \(fps)")
    }
    if let whole = Int32(exactly: fps) { return TimeBase(1, whole) }
    // Such rates are written with two or three decimals, so the nearest is taken: 0.005 is half of
    // the second decimal, which also finds 23.98.
    let nominal = (fps * 1_001 / 1_000).rounded()
    if nominal >= 1, abs(nominal * 1_000 / 1_001 - fps) < 0.005 {
      return TimeBase(1_001, Int32(nominal) * 1_000)
    }
    return TimeBase(1_000, Int32((fps * 1_000).rounded()))
  }
}
