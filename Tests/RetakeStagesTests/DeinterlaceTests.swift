import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeTestFrames
import RetakeTestSupport
import Testing

@testable import RetakeStages

/// Frames of one field, compared with FFmpeg's `estdif`, which with these costs follows no edges.
@Suite struct DeinterlaceTests {
  struct Form: Sendable, CustomTestStringConvertible {
    var name: String
    var format: PixelFormat
    var width = 66
    var height = 50

    var testDescription: String { "\(name) \(width)x\(height)" }
  }

  private static let forms = [
    Form(name: "gray", format: .gray), Form(name: "gray", format: .gray, width: 7, height: 3),
    Form(name: "yuv420p", format: .i420),
    Form(name: "yuv420p", format: .i420, width: 35, height: 27),
    Form(name: "yuv422p", format: .i422), Form(name: "yuv444p", format: .i444),
    Form(name: "yuv440p", format: .i440), Form(name: "yuva420p", format: .i420a),
    Form(name: "gray10le", format: .gray(bits: 10)),
    Form(name: "gray16le", format: .gray(bits: 16)),
    Form(name: "yuv420p10le", format: .i420(bits: 10)),
    Form(name: "yuv422p10le", format: .i422(bits: 10)),
    Form(name: "yuv444p10le", format: .i444(bits: 10)),
    Form(name: "yuv420p12le", format: .i420(bits: 12)),
    Form(name: "gbrp10le", format: .gbr(bits: 10)),
  ]

  private func ffmpeg(_ arguments: [String], to file: URL) throws -> [UInt8] {
    let made = try runFFmpeg(
      arguments: ["-v", "error"] + arguments + ["-f", "rawvideo", file.path])
    try #require(made.status == 0, "\(made.stderr)")
    return Array(try Data(contentsOf: file))
  }

  /// The frames in the bytes of raw video.
  private func frames(_ bytes: [UInt8], _ form: Form) throws -> [Frame] {
    let size = form.format.visibleBytes(width: form.width, height: form.height)
    try #require(bytes.count % size == 0)
    return stride(from: 0, to: bytes.count, by: size).map { start in
      var next = start
      let planes = (0..<form.format.planeCount).map { plane in
        let count =
          form.format.rowBytes(plane: plane, width: form.width)
          * form.format.rowCount(plane: plane, height: form.height)
        defer { next += count }
        return Array(bytes[next..<next + count])
      }
      return Frame(format: form.format, width: form.width, height: form.height, planes: planes)
    }
  }

  @Test(arguments: forms, VideoField.allCases)
  func `every frame equals FFmpeg's`(form: Form, field: VideoField) throws {
    let folder = try TemporaryFolder()
    // The noise reaches the limits of samples.
    let interlaced = try ffmpeg(
      [
        "-f", "lavfi", "-i",
        "testsrc2=size=80x60:rate=50:duration=0.4,noise=alls=90:all_seed=3", "-vf",
        "tinterlace=interleave_\(field.rawValue),format=\(form.name),"
          + "crop=\(form.width):\(form.height):0:0:exact=1",
      ], to: folder.file("in.raw"))
    let expected = try ffmpeg(
      [
        "-f", "rawvideo", "-pix_fmt", form.name, "-video_size", "\(form.width)x\(form.height)",
        "-i", folder.file("in.raw").path, "-vf",
        "estdif=mode=frame:parity=\(field == .top ? "tff" : "bff"):ecost=0:mcost=0:dcost=1",
      ], to: folder.file("out.raw"))
    let (sources, wanted) = (try frames(interlaced, form), try frames(expected, form))
    try #require(sources.count == 10 && wanted.count == 10)
    let stage = Deinterlace(options: .init(field: field))
    for (number, (source, wanted)) in zip(sources, wanted).enumerated() {
      let made = stage.process(source, anyContext)
      #expect(made.pixelDigest == wanted.pixelDigest, "frame \(number)")
      #expect(made.pixelDigest != source.pixelDigest)
    }
  }

  /// FFmpeg's filter has no interleaved formats; each of their components is a plane of another.
  @Test func `interleaved components are computed by themselves`() throws {
    let stage = Deinterlace(options: .init(field: .bottom))
    let planes = (0..<3).map { plane in
      frame(.gray, 6, 9) { _, y, x in (plane * 91 + y * y * 37 + x * 53) % 256 }
    }
    let packed = frame(.rgb, 6, 9) { _, y, x in Int(planes[x % 3].bytes(of: 0)[6 * y + x / 3]) }
    let made = stage.process(packed, anyContext).bytes(of: 0)
    for (component, plane) in planes.enumerated() {
      let wanted = stage.process(plane, anyContext).bytes(of: 0)
      #expect(stride(from: component, to: made.count, by: 3).map { made[$0] } == wanted)
    }
  }

  @Test func `a plane with one row, and a column of two, have what they have`() {
    let row = frame(.gray, 4, 1) { _, _, x in x }
    let column = frame(.gray, 1, 2) { _, y, _ in 10 + y }
    #expect(
      Deinterlace(options: .init(field: .bottom)).process(row, anyContext).bytes(of: 0) == [
        0, 1, 2, 3,
      ])
    #expect(Deinterlace(options: .init()).process(column, anyContext).bytes(of: 0) == [10, 10])
    #expect(
      Deinterlace(options: .init(field: .bottom)).process(column, anyContext).bytes(of: 0) == [
        11, 11,
      ])
  }

  @Test func `other properties of a frame are kept`() {
    var source = frame(.i420, 8, 8) { _, y, x in 10 * y + x }
    (source.rotationDegrees, source.isMirrored, source.sampleAspect) = (
      90, true, SampleAspect(4, 3)
    )
    (source.range, source.matrix) = (.limited, .bt709)
    let made = Deinterlace(options: .init()).process(source, anyContext)
    #expect(
      made.rotationDegrees == 90 && made.isMirrored && made.sampleAspect == SampleAspect(4, 3))
    #expect(made.range == .limited && made.matrix == .bt709)
  }
}
