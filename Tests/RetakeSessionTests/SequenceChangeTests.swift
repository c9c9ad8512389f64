import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// MPEG-2 whose pixels change their shape, as broadcasts do between 4:3 and 16:9.
@Suite struct SequenceChangeTests {
  @Test func `no picture is lost where the shape of the pixels changes`() throws {
    let folder = try TemporaryFolder("retake-shapes")
    let (parts, frames, bytes) = (4, 25, 96 * 64 * 3 / 2)
    var (joined, expected) = (Data(), Data())
    for part in 0..<parts {
      let path = folder.file("part-\(part).m2v").path
      try ffmpeg([
        "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25", "-frames:v", "\(frames)", "-vf",
        "setdar=\(part.isMultiple(of: 2) ? "4/3" : "16/9")", "-pix_fmt", "yuv420p", "-c:v",
        "mpeg2video", "-q:v", "\(part + 3)", path,
      ])
      joined += try Data(contentsOf: URL(filePath: path))
      let raw = folder.file("part-\(part).yuv").path
      try ffmpeg(["-flags", "bitexact", "-idct", "simple", "-i", path, "-f", "rawvideo", raw])
      expected += try Data(contentsOf: URL(filePath: raw))
    }
    let path = folder.file("joined.m2v").path
    try joined.write(to: URL(filePath: path))
    try #require(expected.count == parts * frames * bytes)

    let result = try SessionImporter(ImportOptions(file: path, into: folder.url.path)).run()
    let reader = try SessionReader(opening: result.folder.path)
    #expect(result.status == .clean && reader.tracks[0].frameCount == parts * frames)
    for sequence in 0..<parts * frames {
      let frame = try reader.frame(FrameID(track: 0, sequence: sequence))
      let found = (0..<3).flatMap { frame.bytes(of: $0) }
      #expect(found == Array(expected[sequence * bytes..<(sequence + 1) * bytes]), "\(sequence)")
    }
    #expect(try SessionCheck(path: result.folder.path, decodes: true).run().isHealthy)
  }

  private func ffmpeg(_ arguments: [String]) throws {
    let made = try runFFmpeg(arguments: ["-v", "error", "-nostdin"] + arguments)
    try #require(made.status == 0, "\(made.stderr)")
  }
}
