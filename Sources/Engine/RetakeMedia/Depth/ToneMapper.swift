/// Maps the colors of one HDR pixel to the colors of an 8-bit image, in integer arithmetic.
///
/// The steps are: signal to light, light in the colors of BT.2020 to light in the colors of BT.709
/// (ITU-R BT.2087), light to the samples of an SDR display. The curves are in `ToneCurves`, with
/// their sources.
package struct ToneMapper: Sendable {
  /// The largest signal, in the unit of `map`.
  package static let signalMax: Int64 = 65_536

  private let isHybrid: Bool
  private let light: [Int64]
  private let display = ToneCurves.display
  private let codes = ToneCurves.codes

  /// - Returns: nil for `none`.
  package init?(_ map: ToneMap) {
    switch map {
    case .none: return nil
    case .pq: (isHybrid, light) = (false, ToneCurves.perceptual)
    case .hlg: (isHybrid, light) = (true, ToneCurves.hybrid)
    }
  }

  /// - Parameters: The signals of red, green and blue; they are clamped to 0 to `signalMax`.
  package func map(_ red: Int64, _ green: Int64, _ blue: Int64) -> (UInt8, UInt8, UInt8) {
    var (r, g, b) = (Self.at(red, light), Self.at(green, light), Self.at(blue, light))
    if isHybrid {
      // The luminance of BT.2020: 0.2627 R + 0.6780 G + 0.0593 B, in units of 1/65536.
      let luminance = (17_216 * r + 44_434 * g + 3_886 * b + 32_768) >> 16
      let factor = Self.at(luminance >> 8, display)
      (r, g, b) = (Self.times(r, factor), Self.times(g, factor), Self.times(b, factor))
    }
    // Each row adds up to 65536, so gray remains gray.
    return (
      code(108_822 * r - 38_512 * g - 4_774 * b), code(-8_163 * r + 74_246 * g - 547 * b),
      code(-1_190 * r - 6_591 * g + 73_317 * b)
    )
  }

  private static func times(_ light: Int64, _ factor: Int64) -> Int64 {
    (light * factor + 32_768) >> 16
  }

  /// The curve at a signal, straight between two of its knots.
  private static func at(_ signal: Int64, _ curve: [Int64]) -> Int64 {
    let place = max(0, min(signalMax, signal))
    let knot = Int(place >> 6)
    guard knot < ToneCurves.steps else { return curve[ToneCurves.steps] }
    return curve[knot] + ((curve[knot + 1] - curve[knot]) * (place & 63) + 32) >> 6
  }

  /// The sample of a light in units of 1/2^40: the number of samples that begin at or below it.
  private func code(_ light: Int64) -> UInt8 {
    let light = (light + 32_768) >> 16
    var (low, high) = (0, codes.count)
    // Ends: each turn halves the range.
    while low < high {
      let middle = (low + high) / 2
      if codes[middle] <= light { low = middle + 1 } else { high = middle }
    }
    return UInt8(clamping: low)
  }
}
