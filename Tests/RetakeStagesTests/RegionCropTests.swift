import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeStages
import RetakeTestFrames
import Testing

@Suite struct RegionCropTests {
  private func cut(
    _ frame: Frame, _ x: Double, _ y: Double, _ width: Double, _ height: Double,
    padding: Double = 0
  ) throws -> Frame {
    let box = Box(x: x, y: y, width: width, height: height)
    let stage: RegionCrop
    do {
      stage = try RegionCrop(options: RegionCropOptions(padding: padding))
    } catch {
      preconditionFailure("\(error)")
    }
    return try stage.process(
      Region(frame: frame, detection: Detection(box: box, score: 1)), anyContext)
  }

  /// The position of the frame's first sample and the frame's size, for a frame whose samples
  /// encode their positions.
  private func place(_ frame: Frame) -> [Int] {
    let first = Int(frame.bytes(of: 0)[0])
    return [first % 16, first / 16, frame.width, frame.height]
  }

  private func field(_ format: PixelFormat = .gray) -> Frame {
    frame(format, 16, 16) { _, y, x in 16 * y + x }
  }

  @Test func `the padding is a share of the box on each side`() throws {
    #expect(try place(cut(field(), 5, 6, 5, 5)) == [5, 6, 5, 5])
    #expect(try place(cut(field(), 5, 6, 5, 5, padding: 0.2)) == [4, 5, 7, 7])
    #expect(try place(cut(field(), 6, 6, 2, 4, padding: 1)) == [4, 2, 6, 12])
    #expect(RegionCropOptions().padding == 0.2)
  }

  @Test func `a box between the pixels is widened to whole ones`() throws {
    #expect(try place(cut(field(), 3.9, 4.1, 1, 1)) == [3, 4, 2, 2])
    #expect(try place(cut(field(), 3, 4, 1e-30, 1e-30)) == [3, 4, 1, 1])
    #expect(try place(cut(field(), 15.5, 0, 1e-30, 2)) == [15, 0, 1, 2])
  }

  @Test func `a region is cut off at the frame's edges`() throws {
    #expect(try place(cut(field(), -3, -2, 6, 6)) == [0, 0, 3, 4])
    #expect(try place(cut(field(), 12, 13, 50, 1e9, padding: 4)) == [0, 0, 16, 16])
    #expect(try place(cut(field(), 0, 0, 16, 16, padding: 4)) == [0, 0, 16, 16])
    #expect(try place(cut(field(), 15, 15, 1, 1, padding: 1)) == [14, 14, 2, 2])
    #expect(try place(cut(field(), -1e300, 2, 1.1e300, 1)) == [0, 2, 16, 1])
  }

  @Test func `an odd edge moves out where chroma is coarser, and the box stays inside`() throws {
    for (format, expected) in [
      (PixelFormat.i420, [2, 4, 4, 4]), (.nv12, [2, 4, 4, 4]), (.i422, [2, 5, 4, 3]),
      (.i444, [3, 5, 3, 3]), (.gray, [3, 5, 3, 3]),
    ] { #expect(try place(cut(field(format), 3, 5, 3, 3)) == expected, "\(format)") }
    let chroma = try cut(
      frame(.i420, 16, 16) { plane, y, x in plane == 0 ? 0 : 16 * y + x }, 3, 5, 3, 3)
    #expect(chroma.bytes(of: 1) == [33, 34, 49, 50])
  }

  @Test func `no pixel is copied`() throws {
    let whole = field()
    let base = try cut(whole, 0, 0, 4, 4).storage.planes[0].base
    #expect(base == whole.storage.planes[0].base)
    #expect(RegionCrop.keepsInput)
  }

  @Test func `what touches no pixel of the frame fails the item`() {
    for (x, y, width, height) in [
      (16.0, 0.0, 4.0, 4.0), (0, 16, 4, 4), (-4, 0, 4, 4), (0, -9, 4, 4), (.nan, 0, 4, 4),
      (0, .infinity, 4, 4), (-.infinity, 0, .infinity, 4), (0, 0, .infinity, 4),
    ] {
      // Padding would reach into the frame, but would show no part of the object.
      let error = #expect(throws: StageError.self) {
        try cut(field(), x, y, width, height, padding: 4)
      }
      #expect(error?.code == "regionCrop.outside", "\(x) \(y) \(width) \(height)")
      #expect(error?.severity == .recoverable)
    }
    for (width, height) in [(0.0, 4.0), (4, -1), (.nan, 4), (4, 0)] {
      let error = #expect(throws: StageError.self) { try cut(field(), 2, 2, width, height) }
      #expect(error?.code == "regionCrop.empty")
    }
  }
}
