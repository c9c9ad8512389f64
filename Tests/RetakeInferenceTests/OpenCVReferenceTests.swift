import Foundation
import RetakeBuffers
import RetakeInference
import RetakeTestSupport
import Testing

/// Tensors compared with tensors that OpenCV and numpy make, as training code in Python does.
@Suite struct OpenCVReferenceTests {
  private static let hasOpenCV = Judges.has("cv2, numpy")

  /// Reads frames of I444, BT.601 full range, and writes a tensor of 32-bit floats for each. The
  /// arguments of a frame are: its size, the input's size, the type, the interpolation.
  private static let program = """
    import sys, cv2, numpy as np

    def tensor(fw, fh, w, h, kind, interpolation):
        yuv = np.frombuffer(sys.stdin.buffer.read(3 * fw * fh), np.uint8)
        yuv = yuv.reshape(3, fh, fw).astype(np.float64)
        y, u, v = yuv[0], yuv[1] - 128, yuv[2] - 128
        rgb = np.stack([y + 1.402 * v, y - 0.344136 * u - 0.714136 * v, y + 1.772 * u], axis=2)
        image = np.clip(np.rint(rgb), 0, 255).astype(np.uint8)
        mode = cv2.INTER_LINEAR if interpolation == 'bilinear' else cv2.INTER_NEAREST
        if kind == 'crop':
            if fw * h > fh * w:
                side = fh * w // h
                image = image[:, (fw - side) // 2:(fw - side) // 2 + side]
            else:
                side = fw * h // w
                image = image[(fh - side) // 2:(fh - side) // 2 + side]
        nw, nh = w, h
        if kind.startswith('fit_to_window'):
            scale = min(w / fw, h / fh)
            nw, nh = round(fw * scale), round(fh * scale)
        image = cv2.resize(np.ascontiguousarray(image), (nw, nh), interpolation=mode)
        dx, dy = (w - nw) // 2, (h - nh) // 2
        if not kind.endswith('letterbox'):
            dx = dy = 0
        image = cv2.copyMakeBorder(
            image, dy, h - nh - dy, dx, w - nw - dx, cv2.BORDER_CONSTANT, value=(114, 114, 114))
        mean = np.array([10, 20, 30], np.float32)
        blob = ((image.astype(np.float32) - mean) / np.float32(255)).transpose(2, 0, 1)
        sys.stdout.buffer.write(np.ascontiguousarray(blob).tobytes())

    words = sys.argv[1:]
    while words:
        tensor(*map(int, words[:4]), *words[4:6])
        words = words[6:]
    """

  struct Case: Sendable, CustomTestStringConvertible {
    var type: ResizeType
    var interpolation: Interpolation
    var frame: (width: Int, height: Int)

    var testDescription: String { "\(type.rawValue) \(interpolation.rawValue) \(frame)" }

    var input: ImageInput {
      .sized(128, 96) {
        ($0.resizeType, $0.interpolation, $0.padValue) = (type, interpolation, 114)
        ($0.meanValues, $0.scaleValues) = ([10, 20, 30], [255])
      }
    }

    /// Small detail over a slope, with all colors of the matrix's range and some that it clips.
    var picture: Frame {
      noise(.i444, frame.width, frame.height, matrix: .bt601, seed: UInt64(frame.width))
    }
  }

  static let cases = ResizeType.allCases.flatMap { type in
    Interpolation.allCases.flatMap { interpolation in
      [(213, 119), (50, 75), (256, 192)].map { frame in
        Case(type: type, interpolation: interpolation, frame: (frame.0, frame.1))
      }
    }
  }

  /// The tensors of all cases, by their descriptions, from one start of Python: its imports take
  /// longer than the tensors.
  private static let references = Result { try Self.tensors(of: Self.cases) }

  private static func tensors(of cases: [Case]) throws -> [String: [Float]] {
    var words: [String] = []
    var planes: [UInt8] = []
    for it in cases {
      let (input, picture) = (it.input, it.picture)
      words += [it.frame.width, it.frame.height, input.width, input.height].map { "\($0)" }
      words += [it.type.rawValue, it.interpolation.rawValue]
      for plane in 0..<3 { planes += picture.bytes(of: plane) }
    }
    let result = try runCommand(
      Judges.python, arguments: ["-c", program] + words, input: Data(planes))
    try #require(result.status == 0, "\(result.stderr)")
    let numbers = result.stdoutBytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    // The inputs have one size.
    let count = numbers.count / cases.count
    var tensors: [String: [Float]] = [:]
    for (index, it) in cases.enumerated() {
      tensors[it.testDescription] = Array(numbers[index * count..<(index + 1) * count])
    }
    return tensors
  }

  private func reference(_ it: Case) throws -> [Float] {
    try #require(try Self.references.get()[it.testDescription])
  }

  /// The largest difference, and how many numbers differ.
  private func difference(_ left: [Float], _ right: [Float]) throws -> (largest: Float, count: Int)
  {
    try #require(left.count == right.count)
    let differences = zip(left, right).map { abs($0 - $1) }
    return (differences.max() ?? 0, differences.count { $0 != 0 })
  }

  @Test(
    .enabled(if: hasOpenCV, "python3 has no cv2 or no numpy"), arguments: cases)
  func `a tensor is the one that OpenCV and numpy make`(_ it: Case) throws {
    let made = Preprocessor(it.input).prepare(it.picture).floats
    let found = try difference(made, try reference(it))
    // A color in the middle between two levels may be rounded to either.
    #expect(found.largest <= 1.001 / 255)
    #expect(found.count * 1_000 <= made.count)
  }

  /// Faults that a wrong sidecar or a change of this module would cause.
  static let faults: [(name: String, plant: @Sendable (inout ImageInput, inout Frame) -> Void)] = [
    ("stretch for letterbox", { input, _ in input.resizeType = .standard }),
    ("BGR for RGB", { input, _ in input.colorSpace = .bgr }),
    ("missing scale", { input, _ in input.scaleValues = [1] }),
    ("missing mean", { input, _ in input.meanValues = [0] }),
    ("padding corner", { input, _ in input.resizeType = .fitToWindow }),
    ("padding level", { input, _ in input.padValue = 0 }),
    ("range", { _, frame in frame.range = .limited }),
    ("matrix", { _, frame in frame.matrix = .bt709 }),
    ("interpolation", { input, _ in input.interpolation = .nearest }),
    ("layout", { input, _ in input.layout = .nhwc }),
  ]

  @Test(.enabled(if: hasOpenCV, "python3 has no cv2 or no numpy"))
  func `each fault of preprocessing is far outside of the tolerance`() throws {
    let it = Case(type: .fitToWindowLetterbox, interpolation: .bilinear, frame: (213, 119))
    let expected = try reference(it)
    for fault in Self.faults {
      var (input, frame) = (it.input, it.picture)
      fault.plant(&input, &frame)
      let found = try difference(Preprocessor(input).prepare(frame).floats, expected)
      #expect(found.largest > 4 / 255, "\(fault.name)")
      #expect(found.count * 20 > expected.count, "\(fault.name)")
    }
  }
}
