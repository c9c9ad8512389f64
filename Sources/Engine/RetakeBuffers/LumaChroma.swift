/// Factors that convert luma and chroma to red, green and blue in full range, in units of 1/65536.
///
/// R = Y' + a V', G = Y' − b U' − c V', B = Y' + d U', where Y' is the luma above black times
/// `luma`, and U' and V' are the chroma around 128. The factors follow ITU-R BT.601, BT.709 and
/// BT.2020 (non-constant luminance), rounded to 1/65536. In limited range luma has 219 steps and
/// chroma 224.
package struct LumaChroma: Hashable, Sendable {
  package let black: Int32
  package let luma: Int32
  package let redFromV: Int32
  package let greenFromU: Int32
  package let greenFromV: Int32
  package let blueFromU: Int32

  package init(matrix: ColorMatrix, range: ColorRange) {
    let full: (Int32, Int32, Int32, Int32) =
      switch matrix {
      case .bt601, .identity: (91_881, 22_553, 46_802, 116_130)
      case .bt709: (103_206, 12_276, 30_679, 121_609)
      case .bt2020: (96_639, 10_784, 37_444, 123_299)
      }
    let isLimited = range == .limited
    // Half the divisor is added, so that the quotient is rounded.
    func scaled(_ value: Int32) -> Int32 { isLimited ? (value * 255 + 112) / 224 : value }
    black = isLimited ? 16 : 0
    luma = isLimited ? (65_536 * 255 + 109) / 219 : 65_536
    (redFromV, greenFromU) = (scaled(full.0), scaled(full.1))
    (greenFromV, blueFromU) = (scaled(full.2), scaled(full.3))
  }
}
