import RetakeBuffers

/// How samples of luma and chroma become red, green and blue:
/// `rgb = matrix * (samples - zero)`, all from 0 to 1.
///
/// From ITU-R BT.601-7, BT.709-6 and BT.2020-2, each of which defines the weights of red and blue
/// in luma; the sample values of limited range follow BT.709-6, 3.5.
struct YCbCrConversion: Hashable, Sendable {
  /// The samples of black: luma, Cb, Cr.
  let zero: [Float]
  /// Column by column: the summands of luma, Cb and Cr in red, green and blue.
  let matrix: [Float]

  init(range: ColorRange, matrix: ColorMatrix) {
    let (red, blue) = Self.weights(matrix)
    let green = 1 - red - blue
    // The levels from black to white, and from the least chroma to the most.
    let (black, luma, chroma) = range == .full ? (0.0, 255.0, 255.0) : (16.0, 219.0, 224.0)
    let (perLuma, perChroma) = (255 / luma, 255 / chroma)
    let (fromBlue, fromRed) = (2 * (1 - blue) * perChroma, 2 * (1 - red) * perChroma)
    zero = [Float(black / 255), 128 / 255, 128 / 255]
    self.matrix = [
      perLuma, perLuma, perLuma,
      0, -fromBlue * blue / green, fromBlue,
      fromRed, -fromRed * red / green, 0,
    ].map { Float($0) }
  }

  /// The weights of red and blue in luma.
  private static func weights(_ matrix: ColorMatrix) -> (red: Double, blue: Double) {
    switch matrix {
    case .bt601, .identity: (0.299, 0.114)
    case .bt709: (0.2126, 0.0722)
    case .bt2020: (0.2627, 0.0593)
    }
  }
}
