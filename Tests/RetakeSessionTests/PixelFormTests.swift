import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// The pixels of today: formats beyond 8 bits and 4:2:0, as FFmpeg's encoders make them.
@Suite struct PixelFormTests {
  @Test func `the table has at least fifty forms, and this FFmpeg makes most of them`() {
    #expect(PixelForm.all.count >= 50)
    #expect(PixelForm.all.count { !PixelForm.missing.contains($0.codec) } >= 50)
  }

  @Test(
    .enabled(if: !Self.made.isEmpty, "this FFmpeg has none of the encoders"), arguments: made)
  func `every frame is the one that FFmpeg decodes, in order and alone`(form: PixelForm) throws {
    let imported = try ImportedClip(form.clip)

    let reader = try imported.reader()
    let track = try #require(reader.tracks.first)
    let expected = try Self.framehash(imported.source, as: form.repacked)
    var digests: [Digest128] = []
    var hashes: [String] = []
    for sequence in 0..<track.frameCount {
      let frame = try reader.frame(FrameID(track: track.track, sequence: sequence))
      #expect(frame.format.rawValue == form.format)
      digests.append(frame.pixelDigest)
      hashes.append(frame.frameHash)
    }
    #expect(!expected.isEmpty && hashes == expected)
    #expect(track.format.rawValue == form.format && track.otherFormats.isEmpty)
    let alone = try imported.reader(ReadOptions(verifiesPixels: true, poisonsMemory: true))
    for sequence in (0..<track.frameCount).reversed() {
      let frame = try alone.frame(FrameID(track: track.track, sequence: sequence))
      #expect(frame.pixelDigest == digests[sequence], "frame \(sequence)")
    }
    #expect(try SessionCheck(path: imported.path).run().findings.isEmpty)
  }

  @Test(
    .enabled(if: !PixelForm.missing.contains("libx265"), "this FFmpeg has no encoder libx265"),
    arguments: [("hdr10.mp4", "smpte2084"), ("hlg.mov", "arib-std-b67")])
  func `transfer, primaries, matrix and range are kept`(file: String, transfer: String) throws {
    let form = try #require(PixelForm.all.first { $0.file == file })
    let imported = try ImportedClip(form.clip)

    let info = try imported.reader().info()

    let track = try #require(info.tracks.first)
    #expect(track.transfer == transfer && track.primaries == "bt2020")
    #expect(track.matrix == .bt2020 && track.range == .limited && track.assumed.isEmpty)
    let frame = try imported.reader().frame(FrameID(track: track.track, sequence: 1))
    #expect(frame.matrix == .bt2020 && frame.range == .limited)
  }

  @Test func `a source that says nothing of its colors has no transfer`() throws {
    let imported = try ImportedClip(.oddSize)
    let track = try #require(try imported.reader().info().tracks.first)
    #expect(track.transfer == nil && track.primaries == nil)
  }

  @Test func `the samples of a mosaic are refused, and the next command keeps them`() throws {
    let folder = try TemporaryFolder()
    let samples = Data((0..<(48 * 32)).map { UInt8(truncatingIfNeeded: $0 &* 37) })
    try samples.write(to: folder.file("samples.raw"))
    let file = folder.file("bayer.nut")
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-f", "rawvideo", "-pix_fmt", "bayer_rggb8", "-s", "48x32", "-i",
        folder.file("samples.raw").path, "-c:v", "rawvideo", file.path,
      ])
    try #require(made.status == 0, "\(made.stderr)")

    let error =
      #expect(throws: (any Error).self) {
        try SessionImporter(
          ImportOptions(file: file.path, into: folder.file("Recordings").path)
        ).run()
      } as? any CodedError

    #expect(error?.code == "media.decode.pixelFormat")
    let advice = try #require(error?.advice)
    let command = advice.split(separator: ": ", maxSplits: 1).last.map(String.init) ?? ""
    #expect(command.contains("-pix_fmt gray "), "\(advice)")
    let kept = try runCommand(
      "sh",
      arguments: [
        "-c",
        command.replacing(" && retake import OUT.mkv", with: "")
          .replacing("WIDTHxHEIGHT", with: "48x32").replacing("RATE", with: "10")
          .replacing("OUT.mkv", with: folder.file("out.mkv").path),
      ])
    try #require(kept.status == 0, "\(kept.stderr)")
    let result = try SessionImporter(
      ImportOptions(
        file: folder.file("out.mkv").path, into: folder.file("Recordings").path)
    ).run()
    let frame = try SessionReader(opening: result.folder.path).frame(
      FrameID(track: 0, sequence: 0))
    #expect(frame.format == .gray && Data(frame.bytes(of: 0)) == samples)
  }

  /// Red, green and blue of a pixel's byte: the shift and the bits of each.
  private static let bytes: [(pixels: String, parts: [(shift: Int, bits: Int)])] = [
    ("rgb8", [(5, 3), (2, 3), (0, 2)]), ("bgr8", [(0, 3), (3, 3), (6, 2)]),
    ("rgb4_byte", [(3, 1), (1, 2), (0, 1)]), ("bgr4_byte", [(0, 1), (1, 2), (3, 1)]),
  ]

  @Test(arguments: bytes.indices)
  func `a pixel in one byte has the colors that FFmpeg reads in it`(form: Int) throws {
    let (pixels, parts) = Self.bytes[form]
    let folder = try TemporaryFolder()
    let bits = parts.reduce(0) { $0 + $1.bits }
    let samples = (0..<256).map { $0 & (1 << bits - 1) }
    let frame = try Self.imported(Data(samples.map { UInt8($0) }), pixels, in: folder)
    #expect(frame.format == .rgb)
    let found = frame.bytes(of: 0).map(Int.init)
    let expected = samples.flatMap { byte in
      parts.map { part in
        let most = 1 << part.bits - 1
        // The nearest of 0 to 255.
        return (510 * (byte >> part.shift & most) + most) / (2 * most)
      }
    }
    #expect(found == expected)
    // FFmpeg's command multiplies by an integer, and so has 252 for white of 3 bits.
    let own = try Data(contentsOf: folder.file("own.raw")).map(Int.init)
    #expect(own.count == found.count)
    #expect(zip(own, found).allSatisfy { abs($0 - $1) <= 3 })
  }

  /// A raw picture of 16x16 as a session has it; `own.raw` has it as FFmpeg's own command decodes
  /// it.
  private static func imported(
    _ samples: Data, _ pixels: String, in folder: TemporaryFolder
  ) throws -> Frame {
    try samples.write(to: folder.file("samples.raw"))
    let input = [
      "-v", "error", "-f", "rawvideo", "-pix_fmt", pixels, "-s", "16x16", "-i",
      folder.file("samples.raw").path,
    ]
    let file = folder.file("clip.nut")
    let made = try runFFmpeg(arguments: input + ["-c:v", "copy", file.path])
    try #require(made.status == 0, "\(made.stderr)")
    _ = try runFFmpeg(
      arguments: input + ["-f", "rawvideo", "-pix_fmt", "rgb24", folder.file("own.raw").path])
    let result = try SessionImporter(
      ImportOptions(file: file.path, into: folder.file("Recordings").path)
    ).run()
    return try SessionReader(opening: result.folder.path).frame(FrameID(track: 0, sequence: 0))
  }

  @Test(arguments: ["rgb4", "bgr4"])
  func `two pixels in a byte are refused by name`(pixels: String) throws {
    let folder = try TemporaryFolder()
    let error =
      #expect(throws: (any Error).self) {
        _ = try Self.imported(Data((0..<128).map { UInt8($0) }), pixels, in: folder)
      } as? any CodedError
    #expect(error?.code == "media.decode.pixelFormat")
    #expect(error?.message.contains(pixels) == true)
    #expect(error?.advice?.contains("-pix_fmt rgb24 -c:v ffv1") == true)
  }

  @Test func `a file of Xvid has the pixels of the simple transform`() throws {
    // FFmpeg decodes MPEG-4 with this tag as Xvid's, unless the stream names another encoder.
    let clip = Clip(
      name: "MPEG-4 of Xvid", file: "xvid.avi",
      inputs: ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25", "-frames:v", "20"],
      output: ["-c:v", "mpeg4", "-flags", "bitexact", "-vtag", "XVID", "-q:v", "4"])
    let imported = try ImportedClip(clip)
    let reader = try imported.reader()
    let hashes = try (0..<20).map { try reader.frame(FrameID(track: 0, sequence: $0)).frameHash }
    #expect(try hashes == Self.framehash(imported.source, as: nil))
    let other = try Self.framehash(imported.source, as: nil, transform: "auto")
    #expect(other.count == 20 && other != hashes, "docs/imported-footage.md says how they differ")
  }

  static let made = PixelForm.all.filter { !PixelForm.missing.contains($0.codec) }

  /// The frames as FFmpeg's own command decodes them; repacked only where the samples remain.
  static func framehash(
    _ file: URL, as format: String?, transform: String = "simple"
  ) throws -> [String] {
    let result = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-noautorotate", "-flags", "bitexact", "-idct", transform, "-i",
        file.path, "-map", "0:v:0", "-fps_mode", "passthrough",
      ] + (format.map { ["-pix_fmt", $0] } ?? []) + ["-f", "framehash", "-"])
    return result.stdout.split(separator: "\n").filter { !$0.hasPrefix("#") }
      .compactMap { $0.split(separator: ",").last?.trimmingCharacters(in: .whitespaces) }
  }
}
