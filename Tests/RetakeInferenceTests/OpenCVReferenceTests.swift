import Foundation
import RetakeBuffers
import RetakeInference
import RetakeTestSupport
import Testing

/// Tensors compared with tensors that OpenCV and numpy make, as training code in Python does.
@Suite struct OpenCVReferenceTests {
  private static let hasOpenCV = Judges.has("cv2, numpy")

  /// Reads a frame of I444, BT.601 full range, and writes a tensor of 32-bit floats. The numbers
  /// are: the frame's size, the input's size, the type, the interpolation.
  private static let program = """
    import sys, cv2, numpy as np
    fw, fh, w, h = map(int, sys.argv[1:5])
    kind, interpolation = sys.argv[5:7]
    yuv = np.frombuffer(sys.stdin.buffer.read(), np.uint8).reshape(3, fh, fw).astype(np.float64)
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

  private func reference(_ it: Case) throws -> [Float] {
    let planes = (0..<3).flatMap { it.picture.bytes(of: $0) }
    let numbers = [it.frame.width, it.frame.height, it.input.width, it.input.height]
    let result = try runCommand(
      Judges.python,
      arguments: ["-c", Self.program] + numbers.map(String.init)
        + [it.type.rawValue, it.interpolation.rawValue],
      input: Data(planes))
    try #require(result.status == 0, "\(result.stderr)")
    return result.stdoutBytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
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
