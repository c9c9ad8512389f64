import Foundation
import RetakeBuffers
import Testing

@testable import RetakeMedia

@Suite struct ImageTests {
  @Test(arguments: [PixelFormat.gray, .rgb, .rgba])
  func `a picture comes back from PNG exactly, and its bytes never vary`(format: PixelFormat) throws
  {
    let frame = Pictures.noise(format, width: 101, height: 67)
    let png = try MediaImage.png(frame)
    let read = try MediaImage.decode(png)
    #expect(read.format == format)
    #expect(read.range == .full)
    #expect(read.allBytes == frame.allBytes)
    #expect(try MediaImage.png(frame) == png)
  }

  @Test(arguments: [PixelFormat.i420, .i422, .i444, .nv12, .bgra])
  func `other formats become colors`(format: PixelFormat) throws {
    let frame = Pictures.noise(format, width: 64, height: 48)
    let read = try MediaImage.decode(try MediaImage.png(frame))
    let expected = try MediaScaler().scale(frame, format: format == .bgra ? .rgba : .rgb)
    #expect(read.allBytes == expected.allBytes)
  }

  @Test(
    .enabled(if: Clips.hasFFmpeg, "the ffmpeg command is not on this machine"),
    arguments: [
      ("yuvj420p", PixelFormat.i420), ("yuvj422p", .i422), ("yuvj444p", .i444),
    ])
  func `a JPEG keeps its planes`(pixels: String, format: PixelFormat) throws {
    let file = try Clips.make(
      "picture.jpg",
      Clips.picture("101x67", frames: 1) + ["-pix_fmt", pixels, "-c:v", "mjpeg", "-f", "image2"])
    let frame = try MediaImage.read(file: file)
    #expect((frame.format, frame.width, frame.height) == (format, 101, 67))
    #expect(frame.range == .full)
    #expect(try [frame.frameHash] == Clips.frameHashes(file))
  }

  @Test(
    .enabled(if: Clips.hasFFmpeg, "the ffmpeg command is not on this machine"),
    arguments: [("pal8", PixelFormat.rgb), ("ya8", .rgba), ("monob", .gray), ("rgba", .rgba)])
  func `PNG's other layouts are converted`(pixels: String, format: PixelFormat) throws {
    let file = try Clips.make(
      "picture.png", Clips.picture("40x30", frames: 1) + ["-pix_fmt", pixels])
    let frame = try MediaImage.read(file: file)
    let name = format.ffmpegName
    let expected = try Clips.ffmpeg([
      "-i", file, "-f", "rawvideo", "-sws_flags", "accurate_rnd+bitexact", "-pix_fmt", name, "-",
    ])
    #expect(frame.format == format)
    #expect(frame.allBytes == Array(expected))
  }

  @Test(.enabled(if: Clips.hasFFmpeg, "the ffmpeg command is not on this machine"))
  func `sixteen bits are kept, and written as eight`() throws {
    for (pixels, format) in [
      ("rgb48be", PixelFormat.gbr(bits: 16)), ("gray16be", .gray(bits: 16)),
    ] {
      let file = try Clips.make(
        "deep-\(pixels).png", Clips.picture("40x30", frames: 1) + ["-pix_fmt", pixels])
      let frame = try MediaImage.read(file: file)
      let expected = try Clips.ffmpeg([
        "-i", file, "-f", "rawvideo", "-pix_fmt", format.ffmpegName, "-",
      ])
      #expect(frame.format == format && frame.range == .full)
      #expect(frame.allBytes == Array(expected))
      let eight = try MediaImage.decode(MediaImage.png(frame))
      #expect(eight.format == format.eightBits)
      #expect(try eight.allBytes == frame.reducedToEightBits().allBytes)
    }
  }

  @Test(
    .enabled(if: Clips.hasFFmpeg, "the ffmpeg command is not on this machine"),
    arguments: [
      ("picture.bmp", ["-pix_fmt", "bgr24"], PixelFormat.rgb),
      ("picture.tiff", ["-pix_fmt", "rgb24"], .rgb),
      ("deep.tiff", ["-pix_fmt", "gray16le"], .gray(bits: 16)),
      ("picture.webp", ["-pix_fmt", "yuv420p"], .i420),
      ("exact.webp", ["-pix_fmt", "bgra", "-lossless", "1"], .rgba),
      (
        "clear.webp",
        ["-vf", "format=rgba,colorchannelmixer=aa=0.5", "-pix_fmt", "yuva420p"], .i420a
      ),
    ])
  func `other still images have the pixels that ffmpeg gives`(
    name: String, options: [String], format: PixelFormat
  ) throws {
    let made = try Clips.make(name, Clips.picture("40x30", frames: 1) + options)
    // The bytes determine the format, not the name.
    let file = made + ".picture"
    try? FileManager.default.removeItem(atPath: file)
    try FileManager.default.copyItem(atPath: made, toPath: file)
    let frame = try Frame(image: file)
    let expected = try Clips.ffmpeg([
      "-i", made, "-f", "rawvideo", "-sws_flags", "accurate_rnd+bitexact", "-pix_fmt",
      format.ffmpegName, "-",
    ])
    #expect((frame.format, frame.width, frame.height) == (format, 40, 30))
    #expect(frame.range == ([.i420, .i420a].contains(format) ? .limited : .full))
    #expect(frame.allBytes == Array(expected))
  }

  @Test func `what is no picture is refused with its name`() throws {
    let text = try Clips.root.write("not a picture", to: "picture.png").path
    let empty = try Clips.root.write("", to: "empty.png").path
    let missing = try Clips.root.file("missing.png").path
    let png = try MediaImage.png(Pictures.noise(.rgb, width: 64, height: 48))
    let cut = try Clips.root.file("cut.png")
    try Data(png.prefix(png.count / 2)).write(to: cut)
    for (file, code) in [
      (text, "media.image.notImage"), (empty, "media.open.empty"),
      (missing, "media.open.missing"), (cut.path, "media.image.notImage"),
    ] {
      let error = #expect(throws: MediaError.self) { try MediaImage.read(file: file) }
      #expect(error?.code == code, "\(file)")
      #expect(error?.place?.file == file)
    }
  }
}
