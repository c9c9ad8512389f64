import RetakeBuffers
import RetakeInference
import Testing

@Suite struct PreprocessTests {
  struct Color: Sendable, CustomTestStringConvertible {
    var matrix: ColorMatrix
    var range: ColorRange
    var yuv: [UInt8]
    var rgb: [Float]

    var testDescription: String { "\(matrix) \(range) \(yuv)" }
  }

  /// Computed by hand from the definitions: R = Y + 2 (1 − Kr) V, B = Y + 2 (1 − Kb) U.
  static let colors = [
    // Kr 0.299, Kb 0.114; 255 (81 − 16) / 219 = 75.7, 1.402 × 112 × 255 / 224 = 178.8
    Color(matrix: .bt601, range: .limited, yuv: [81, 90, 240], rgb: [254, 0, 0]),
    Color(matrix: .bt601, range: .limited, yuv: [16, 128, 128], rgb: [0, 0, 0]),
    Color(matrix: .bt601, range: .limited, yuv: [235, 128, 128], rgb: [255, 255, 255]),
    Color(matrix: .bt601, range: .limited, yuv: [126, 128, 128], rgb: [128, 128, 128]),
    // 100 + 1.402 × 22 = 130.8; 100 − 0.344136 × 72 − 0.714136 × 22 = 59.5; 100 + 1.772 × 72
    Color(matrix: .bt601, range: .full, yuv: [100, 200, 150], rgb: [131, 60, 228]),
    // 100 + 1.5748 × 22 = 134.6; 100 − 0.187324 × 72 − 0.468124 × 22 = 76.2; 100 + 1.8556 × 72
    Color(matrix: .bt709, range: .full, yuv: [100, 200, 150], rgb: [135, 76, 234]),
    // 100 + 1.4746 × 22 = 132.4; 100 − 0.164553 × 72 − 0.571353 × 22 = 75.6; 100 + 1.8814 × 72
    Color(matrix: .bt2020, range: .full, yuv: [100, 200, 150], rgb: [132, 76, 235]),
    // 97.81 + 1.5748 × 22 × 255 / 224 = 137.3; 70.7; 97.81 + 1.8556 × 72 × 255 / 224 = 249.9
    Color(matrix: .bt709, range: .limited, yuv: [100, 200, 150], rgb: [137, 71, 250]),
  ]

  @Test(arguments: colors)
  func `luma and chroma become the colors of their matrix and range`(_ it: Color) {
    for format in PixelFormat.basic where format.isYUV {
      let frame = plain(format, it.yuv, range: it.range, matrix: it.matrix)
      let values = Preprocessor(.sized(6, 4)).prepare(frame).floats
      let channels = (0..<3).map { values[$0 * 24] }
      #expect(channels == it.rgb, "\(format)")
      #expect(values == it.rgb.flatMap { Array(repeating: $0, count: 24) }, "\(format)")
    }
  }

  @Test func `the order of channels is that of the model`() {
    for format in [PixelFormat.rgb, .rgba, .bgra] {
      let frame = plain(format, [10, 20, 30])
      let rgb = Preprocessor(.sized(2, 1)).prepare(frame).floats
      let bgr = Preprocessor(.sized(2, 1) { $0.colorSpace = .bgr }).prepare(frame).floats
      #expect(rgb == [10, 10, 20, 20, 30, 30] && bgr == [30, 30, 20, 20, 10, 10], "\(format)")
    }
  }

  @Test func `packed pixels have full range, whatever the frame says`() {
    var frame = plain(.rgb, [10, 20, 30])
    frame.range = .limited
    #expect(Preprocessor(.sized(1, 1)).prepare(frame).floats == [10, 20, 30])
  }

  @Test func `gray is one channel, and three equal ones for a model of colors`() {
    let limited = plain(.gray, [126], range: .limited)
    let gray = ImageInput.sized(1, 1) { $0.colorSpace = .gray }
    #expect(Preprocessor(gray).prepare(limited).floats == [128])
    #expect(Preprocessor(gray).prepare(limited).tensor.shape == [1, 1, 1, 1])
    #expect(Preprocessor(.sized(1, 1)).prepare(limited).floats == [128, 128, 128])
    // 0.299 × 200 + 0.587 × 100 + 0.114 × 50 = 124.2; luma is taken as it is.
    #expect(Preprocessor(gray).prepare(plain(.rgb, [200, 100, 50])).floats == [124])
    #expect(Preprocessor(gray).prepare(plain(.i420, [77, 9, 240])).floats == [77])
  }

  @Test func `mean and scale are those of the model's channels`() {
    let input = ImageInput.sized(1, 1) {
      $0.colorSpace = .bgr
      ($0.meanValues, $0.scaleValues) = ([1, 2, 3], [2, 4, 8])
    }
    let values = Preprocessor(input).prepare(plain(.rgb, [11, 22, 33])).floats
    #expect(values == [16, 5, 1])
    let one = ImageInput.sized(1, 1) { ($0.meanValues, $0.scaleValues) = ([127.5], [127.5]) }
    #expect(Preprocessor(one).prepare(plain(.rgb, [0, 255, 102])).floats == [-1, 1, -0.2])
  }

  @Test func `the layout says which dimension changes fastest`() {
    let frame = picture(.rgb, 2, 2) { _, y, x in UInt8(10 * y + x) }
    let nchw = Preprocessor(.sized(2, 2)).prepare(frame)
    let nhwc = Preprocessor(.sized(2, 2) { $0.layout = .nhwc }).prepare(frame)
    #expect(nchw.tensor.shape == [1, 3, 2, 2] && nhwc.tensor.shape == [1, 2, 2, 3])
    #expect(nchw.floats == [0, 3, 10, 13, 1, 4, 11, 14, 2, 5, 12, 15])
    #expect(nhwc.floats == [0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15])
  }

  @Test func `numbers have the type of the model's input`() {
    let frame = plain(.rgb, [0, 101, 255])
    func elements(_ type: ModelTensor.ElementType, mean: Float = 0) -> ModelTensor.Elements {
      let input = ImageInput.sized(1, 1) {
        ($0.type, $0.meanValues, $0.scaleValues) = (type, [mean], [2])
      }
      return Preprocessor(input).prepare(frame).tensor.elements
    }
    // 50.5 is rounded half to even.
    #expect(elements(.uint8) == .uint8([0, 50, 128]))
    #expect(elements(.uint8, mean: 9) == .uint8([0, 46, 123]))
    #expect(elements(.int32, mean: 9) == .int32([-4, 46, 123]))
    #expect(elements(.int64) == .int64([0, 50, 128]))
    #expect(elements(.float) == .float([0, 50.5, 127.5]))
    #expect(elements(.double) == .double([0, 50.5, 127.5]))
  }

  @Test(arguments: TensorLayout.allCases)
  func `padding is where the picture is not`(layout: TensorLayout) {
    let frame = plain(.rgb, [200, 150, 100], width: 8, height: 4)
    func rows(_ type: ResizeType) -> [String] {
      let input = ImageInput.sized(4, 6) {
        ($0.resizeType, $0.padValue, $0.layout) = (type, 114, layout)
      }
      let values = Preprocessor(input).prepare(frame).floats
      return (0..<6).map { y in
        String(
          (0..<4).map { x in
            let pixel = (0..<3).map { channel in
              layout == .nchw ? values[channel * 24 + y * 4 + x] : values[(y * 4 + x) * 3 + channel]
            }
            return pixel == [200, 150, 100] ? "#" : pixel == [114, 114, 114] ? "." : "?"
          })
      }
    }
    #expect(rows(.fitToWindow) == ["####", "####", "....", "....", "....", "...."])
    #expect(rows(.fitToWindowLetterbox) == ["....", "....", "####", "####", "....", "...."])
    #expect(rows(.standard) == Array(repeating: "####", count: 6))
    #expect(rows(.crop) == Array(repeating: "####", count: 6))
  }

  @Test func `the same size keeps every pixel`() {
    for interpolation in Interpolation.allCases {
      let frame = noise(.rgb, 17, 9)
      let input = ImageInput.sized(17, 9) {
        ($0.layout, $0.interpolation) = (.nhwc, interpolation)
      }
      #expect(Preprocessor(input).prepare(frame).floats == frame.bytes(of: 0).map(Float.init))
    }
  }

  @Test func `bilinear halves are means, and nearest takes the first pixel`() {
    let levels: [UInt8] = [10, 20, 30, 41, 50, 60, 70, 80]
    let frame = picture(.gray, 4, 2) { _, y, x in levels[y * 4 + x] }
    func scaled(_ interpolation: Interpolation) -> [Float] {
      let input = ImageInput.sized(2, 1) {
        ($0.colorSpace, $0.interpolation) = (.gray, interpolation)
      }
      return Preprocessor(input).prepare(frame).floats
    }
    // (10 + 20 + 50 + 60) / 4 and (30 + 41 + 70 + 80) / 4 = 55.25
    #expect(scaled(.bilinear) == [35, 55])
    #expect(scaled(.nearest) == [10, 30])
  }

  @Test func `bilinear enlarging blends quarters and repeats the edges`() {
    let frame = picture(.gray, 2, 1) { _, _, x in x == 0 ? 0 : 100 }
    let input = ImageInput.sized(4, 1) { $0.colorSpace = .gray }
    #expect(Preprocessor(input).prepare(frame).floats == [0, 25, 75, 100])
  }

  @Test(arguments: PixelFormat.basic)
  func `a region gives what its copy gives`(format: PixelFormat) {
    let frame = noise(format, 33, 21, range: .limited)
    let region = PixelRectangle(x: 5, y: 3, width: 20, height: 11)
    let whole = Preprocessor(.sized(33, 21) { $0.layout = .nhwc }).picture(frame)
    let copy = picture(.rgb, 20, 11) { _, y, x in
      whole.bytes(of: 0)[((y + 3) * 33 + 5) * 3 + x]
    }
    let preprocessor = Preprocessor(.sized(15, 14) { $0.resizeType = .fitToWindowLetterbox })
    let prepared = preprocessor.prepare(frame, region: region)
    #expect(prepared.floats == preprocessor.prepare(copy).floats)
    #expect(prepared.geometry.source == region)
  }

  @Test func `chroma of odd columns and rows is that of their pair`() {
    let frame = noise(.i420, 7, 5)
    let wide = picture(.i444, 7, 5) { plane, y, x in
      plane == 0
        ? frame.bytes(of: 0)[y * 7 + x] : frame.bytes(of: plane)[(y / 2) * 4 + x / 2]
    }
    let preprocessor = Preprocessor(.sized(7, 5))
    #expect(preprocessor.prepare(frame).floats == preprocessor.prepare(wide).floats)
    let odd = PixelRectangle(x: 1, y: 1, width: 5, height: 3)
    #expect(
      preprocessor.prepare(frame, region: odd).floats
        == preprocessor.prepare(wide, region: odd).floats)
  }

  @Test func `the picture is what the model is given, before mean and scale`() {
    let frame = noise(.nv12, 40, 30, range: .limited)
    let input = ImageInput.sized(24, 24) {
      ($0.resizeType, $0.padValue, $0.scaleValues) = (.fitToWindowLetterbox, 114, [255])
      $0.colorSpace = .bgr
    }
    let shown = Preprocessor(input).picture(frame)
    #expect(shown.format == .rgb && shown.width == 24 && shown.height == 24)
    let values = Preprocessor(input).prepare(frame).floats
    let bytes = shown.bytes(of: 0)
    let expected = (0..<24 * 24).flatMap { pixel in
      (0..<3).map { UInt8(clamping: Int((values[(2 - $0) * 576 + pixel] * 255).rounded())) }
    }
    #expect(bytes == expected)
  }
}
