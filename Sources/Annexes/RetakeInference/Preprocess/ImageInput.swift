/// The form of a model's input: size, order of dimensions and channels, and range of numbers.
package struct ImageInput: Hashable, Sendable {
  /// The longest side of an input, in pixels.
  package static let sideMax = 8_192
  /// The most pixels of an input: 200 MB as 32-bit floats of three channels.
  package static let pixelsMax = 1 << 24

  package var width: Int
  package var height: Int
  package var type = ModelTensor.ElementType.float
  package var layout = TensorLayout.nchw
  package var colorSpace = ColorSpace.rgb
  package var resizeType = ResizeType.standard
  package var interpolation = Interpolation.bilinear
  /// The level of padding, in each channel, before mean and scale.
  package var padValue: UInt8 = 0
  /// Subtracted from each channel, in the order of the model's channels; one for all, or one each.
  package var meanValues: [Float] = [0]
  /// The divisor of each channel, after the subtraction; one for all channels, or one each.
  package var scaleValues: [Float] = [1]

  package init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
  }

  /// The tensor's shape, with a batch of one.
  package var shape: [Int] {
    switch layout {
    case .nchw: [1, colorSpace.channels, height, width]
    case .nhwc: [1, height, width, colorSpace.channels]
    }
  }

  /// `(level − mean) / scale` of a channel: two roundings in 32 bits, as numpy computes it.
  ///
  /// Swift fuses no multiplication with an addition, so the bits are the same on every machine.
  func normalized(_ level: UInt8, channel: Int) -> Float {
    let mean = meanValues.count == 1 ? meanValues[0] : meanValues[channel]
    let scale = scaleValues.count == 1 ? scaleValues[0] : scaleValues[channel]
    return (Float(level) - mean) / scale
  }
}
