import RetakeBuffers

/// Converts luma and chroma to red, green and blue in full range, in units of 1/65536.
///
/// R = Y' + a V', G = Y' − b U' − c V', B = Y' + d U', rounded to the nearest and clipped at 0 and
/// 255. The factors are those of ITU-R BT.601, BT.709 and BT.2020 (non-constant luminance), rounded
/// to 1/65536. In limited range luma has 219 steps and chroma 224.
struct LumaChroma: Sendable {
  let black: Int32
  let luma: Int32
  let redFromV: Int32
  let greenFromU: Int32
  let greenFromV: Int32
  let blueFromU: Int32
  /// Half a unit, so that shifting rounds to the nearest.
  static let half: Int32 = 1 << 15

  init(matrix: ColorMatrix, range: ColorRange) {
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
