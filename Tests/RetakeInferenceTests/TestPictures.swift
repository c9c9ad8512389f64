import RetakeBuffers
import RetakeInference
import RetakeTestSupport

/// A frame whose samples are a function of plane, row and byte.
func picture(
  _ format: PixelFormat, _ width: Int, _ height: Int, range: ColorRange = .full,
  matrix: ColorMatrix? = nil, _ sample: (_ plane: Int, _ y: Int, _ x: Int) -> UInt8
) -> Frame {
  let planes = (0..<format.planeCount).map { plane in
    (0..<format.rowCount(plane: plane, height: height)).flatMap { y in
      (0..<format.rowBytes(plane: plane, width: width)).map { sample(plane, y, $0) }
    }
  }
  var frame = Frame(format: format, width: width, height: height, range: range, planes: planes)
  if let matrix { frame.matrix = matrix }
  return frame
}

/// Noise over a slope, so that every neighbor differs and no two corners are alike.
func noise(
  _ format: PixelFormat, _ width: Int, _ height: Int, range: ColorRange = .full,
  matrix: ColorMatrix? = nil, seed: UInt64 = 1
) -> Frame {
  var generator = SeededGenerator(seed: seed)
  return picture(format, width, height, range: range, matrix: matrix) { plane, y, x in
    let slope = (x * 97 / width + y * 61 / height + plane * 40) & 0xFF
    return UInt8((slope + generator.pick(0...90)) & 0xFF)
  }
}

/// A frame of one color.
func plain(
  _ format: PixelFormat, _ components: [UInt8], range: ColorRange = .full,
  matrix: ColorMatrix = .bt601, width: Int = 6, height: Int = 4
) -> Frame {
  picture(format, width, height, range: range, matrix: format.isYUV ? matrix : nil) { plane, _, x in
    switch format {
    case .nv12: plane == 0 ? components[0] : components[1 + x % 2]
    case .rgb: components[x % 3]
    case .rgba: x % 4 == 3 ? 255 : components[x % 4]
    case .bgra: x % 4 == 3 ? 255 : components[2 - x % 4]
    default: components[plane]
    }
  }
}

extension ImageInput {
  /// An input with some values changed.
  static func sized(
    _ width: Int, _ height: Int, _ change: (inout ImageInput) -> Void = { _ in }
  ) -> ImageInput {
    var input = ImageInput(width: width, height: height)
    change(&input)
    return input
  }
}

extension Preprocessor.Prepared {
  /// The numbers of a tensor of 32-bit floats.
  var floats: [Float] {
    guard case .float(let values) = tensor.elements else { return [] }
    return values
  }
}

/// A model that is never run, for tests of its declarations.
struct FakeModel: InferenceModel {
  var inputs: [ModelPort]
  var outputs: [ModelPort] = []
  var metadata: [String: String] = [:]

  init(shape: [Int?], type: ModelTensor.ElementType? = .float, metadata: [String: String] = [:]) {
    inputs = [ModelPort(name: "images", type: type, shape: shape)]
    self.metadata = metadata
  }

  func run(_ tensors: [ModelTensor]) throws -> [ModelTensor] {
    preconditionFailure("a fake model computes nothing")
  }
}
