package import RetakeBuffers

/// Makes a model's input of a frame.
///
/// The order is the usual order of training code in Python: convert to RGB, scale, pad, then
/// `(level − mean) / scale`.
package struct Preprocessor: Sendable {
  /// A tensor, and where the frame is in it.
  package struct Prepared: Sendable {
    package var tensor: ModelTensor
    package var geometry: ImageGeometry
  }

  package let input: ImageInput
  private let levels: NormalizedLevels

  /// - Precondition: The size is positive, and each channel has a mean and a scale.
  package init(_ input: ImageInput) {
    let counts = [1, input.colorSpace.channels]
    precondition(
      counts.contains(input.meanValues.count) && counts.contains(input.scaleValues.count),
      "each channel has a mean and a scale")
    self.input = input
    levels = NormalizedLevels(input)
  }

  /// - Parameter region: The part of the frame that the model sees, without a copy; `nil` for all.
  package func prepare(_ frame: Frame, region: PixelRectangle? = nil) -> Prepared {
    let geometry = geometry(of: frame, region)
    let elements: ModelTensor.Elements =
      switch levels {
      case .float(let levels): .float(frame.normalized(input, geometry, levels))
      case .double(let levels): .double(frame.normalized(input, geometry, levels))
      case .uint8(let levels): .uint8(frame.normalized(input, geometry, levels))
      case .int32(let levels): .int32(frame.normalized(input, geometry, levels))
      case .int64(let levels): .int64(frame.normalized(input, geometry, levels))
      }
    return Prepared(tensor: ModelTensor(elements, shape: input.shape), geometry: geometry)
  }

  /// The picture that the model is given, before mean and scale, as RGB24.
  ///
  /// It shows colors as they are: whether the model reads RGB or BGR is not visible in it.
  package func picture(_ frame: Frame, region: PixelRectangle? = nil) -> Frame {
    frame.picture(input, geometry(of: frame, region))
  }

  private func geometry(of frame: Frame, _ region: PixelRectangle?) -> ImageGeometry {
    ImageGeometry(
      frameWidth: frame.width, frameHeight: frame.height, region: region, width: input.width,
      height: input.height, resizeType: input.resizeType)
  }
}

/// The normalized number for each level of each channel, computed once.
enum NormalizedLevels: Sendable {
  case float([[Float]])
  case double([[Double]])
  case uint8([[UInt8]])
  case int32([[Int32]])
  case int64([[Int64]])

  init(_ input: ImageInput) {
    let all = (0..<input.colorSpace.channels).map { channel in
      (UInt8.min...UInt8.max).map { input.normalized($0, channel: channel) }
    }
    switch input.type {
    case .float: self = .float(all)
    case .double: self = .double(all.map { $0.map(Double.init) })
    case .uint8: self = .uint8(all.map { $0.map(Self.rounded) })
    case .int32: self = .int32(all.map { $0.map(Self.rounded) })
    case .int64: self = .int64(all.map { $0.map(Self.rounded) })
    }
  }

  /// Half to even; clipped at the type's bounds.
  private static func rounded<Number: FixedWidthInteger>(_ value: Float) -> Number {
    let whole = value.rounded(.toNearestOrEven)
    if let number = Number(exactly: whole) { return number }
    return value < 0 ? .min : .max
  }
}
