import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeStages
import RetakeTestFrames
import Testing

@Suite struct LuminanceTests {
  private func measure(_ frame: Frame) -> [Double] {
    Luminance().process(frame, anyContext).entries.map(\.value)
  }

  @Test func `statistics of a tiny frame are exact`() {
    let scalars = Luminance().process(gray([[0, 10], [20, 50]]), anyContext)
    #expect(scalars.entries.map(\.name) == ["mean", "min", "max", "standardDeviation"])
    #expect(scalars.entries.map(\.value) == [20, 0, 50, 350.0.squareRoot()])
  }

  @Test func `an even frame has no deviation`() {
    #expect(measure(frame(.gray, 33, 7) { _, _, _ in 255 }) == [255, 255, 255, 0])
    #expect(measure(frame(.gray, 1, 1) { _, _, _ in 0 }) == [0, 0, 0, 0])
  }

  @Test func `padding and chroma do not count`() throws {
    let whole = frame(.i420, 40, 20) { plane, y, x in plane > 0 ? 255 : (y < 2 && x < 2 ? 7 : 99) }
    let cut = try Crop(options: CropOptions(x: 0, y: 0, width: 2, height: 2))
      .process(whole, anyContext)
    #expect(measure(cut) == [7, 7, 7, 0])
  }

  @Test func `a large bright frame does not overflow`() {
    let wide = frame(.gray, 4_096, 3) { _, y, x in (x + y) & 1 == 0 ? 255 : 1 }
    #expect(measure(wide) == [128, 1, 255, 127])
  }
}

@Suite struct FrameDigesterTests {
  @Test func `the digest stage gives the frame's own digest`() {
    let picture = frame(.i420, 6, 4) { plane, y, x in plane + y * x }
    let value = FrameDigester().process(picture, anyContext)
    #expect(value.value == picture.digest)
    #expect(value.facts == [.user(kind: "frame-digest@1", digest: picture.digest)])
  }

  @Test func `a frame digest is read back from its bytes`() throws {
    let value = FrameDigest(Digest128(of: "a frame"))
    #expect(try FrameDigest(decoding: value.encoded()) == value)
    #expect(throws: StageError.self) { try FrameDigest(decoding: [1, 2]) }
  }
}

@Suite struct FingertipTests {
  private func colors(_ frame: Frame, percent: Int = 100) throws -> [Double] {
    try Fingertip(options: FingertipOptions(percent: percent)).process(frame, anyContext)
      .entries.map(\.value)
  }

  @Test func `packed colors are averaged channel by channel`() throws {
    let rgb = frame(.rgb, 2, 2) { _, y, x in [10, 20, 30][x % 3] + 100 * y }
    #expect(try colors(rgb) == [60, 70, 80])
    let bgra = frame(.bgra, 2, 2) { _, y, x in [30, 20, 10, 0][x % 4] + 100 * y }
    #expect(try colors(bgra) == [60, 70, 80])
  }

  @Test func `gray chroma gives equal colors`() throws {
    let full = frame(.i420, 4, 4, range: .full) { plane, _, _ in plane == 0 ? 90 : 128 }
    #expect(try colors(full) == [90, 90, 90])
    let black = frame(.nv12, 4, 4, range: .limited) { plane, _, _ in plane == 0 ? 16 : 128 }
    #expect(try colors(black) == [0, 0, 0])
    #expect(try colors(gray([[40, 60]])) == [50, 50, 50])
  }

  @Test func `the matrix is the frame's`() throws {
    var picture = frame(.i444, 2, 2, range: .full) { plane, _, _ in [100, 128, 178][plane] }
    picture.matrix = .bt601
    #expect(try colors(picture)[0] == 100 + 50 * 91_881.0 / 65_536)
    picture.matrix = .bt709
    #expect(try colors(picture)[0] == 100 + 50 * 103_206.0 / 65_536)
  }

  @Test func `every layout of the same color gives the same means`() throws {
    func sample(_ plane: Int, _ x: Int) -> Int { [120, 90, 200][plane] }
    let planar = try [PixelFormat.i420, .i422, .i444].map { format in
      try colors(frame(format, 8, 8, range: .limited) { plane, _, x in sample(plane, x) })
    }
    let nv12 = try colors(
      frame(.nv12, 8, 8, range: .limited) { plane, _, x in sample(plane == 0 ? 0 : 1 + x % 2, x) })
    #expect(planar.allSatisfy { $0 == nv12 })
  }

  @Test func `only the middle counts`() throws {
    let spot = frame(.gray, 8, 8) { _, y, x in (2..<6).contains(x) && (2..<6).contains(y) ? 80 : 0 }
    #expect(try colors(spot, percent: 50) == [80, 80, 80])
    #expect(try colors(spot, percent: 100) == [20, 20, 20])
    #expect(try colors(frame(.i420, 3, 3) { _, _, _ in 128 }, percent: 1) == [128, 128, 128])
  }
}
