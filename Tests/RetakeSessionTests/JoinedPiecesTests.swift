import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// Concatenated pieces of a transport stream.
@Suite struct JoinedPiecesTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func ffmpeg(_ arguments: String...) throws {
    let result = try runFFmpeg(arguments: ["-v", "error", "-nostdin"] + arguments)
    try #require(result.status == 0, "\(result.stderr)")
  }

  /// Three pieces of 50 frames, and the clip that they come from.
  private func pieces(_ options: [String]) throws -> (clip: String, pieces: [Data]) {
    let clip = folder.file("clip.mp4").path
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25",
        "-frames:v", "150", "-pix_fmt", "yuv420p", "-g", "25",
      ] + options + [clip])
    try #require(made.status == 0, "\(made.stderr)")
    try ffmpeg(
      "-i", clip, "-c", "copy", "-f", "segment", "-segment_time", "2", "-reset_timestamps", "1",
      "-segment_format", "mpegts", folder.file("s%d.ts").path)
    return (clip, try (0..<3).map { try Data(contentsOf: folder.file("s\($0).ts")) })
  }

  private func imported(_ data: Data, _ name: String) throws -> ImportResult {
    let file = folder.file("\(name).ts")
    try data.write(to: file)
    return try SessionImporter(
      ImportOptions(file: file.path, name: name, into: folder.file("Recordings").path)
    ).run()
  }

  private func digests(_ path: String) throws -> [Digest128] {
    let reader = try SessionReader(opening: path, options: ReadOptions(verifiesPixels: true))
    return try (0..<reader.tracks[0].frameCount).map {
      try reader.frame(FrameID(track: 0, sequence: $0)).pixelDigest
    }
  }

  @Test(arguments: [["-c:v", "libx264", "-bf", "2"], ["-c:v", "mpeg2video", "-bf", "0"]])
  func `joined pieces are whole, with a note, and every frame is right`(options: [String]) throws {
    let (clip, pieces) = try pieces(options)
    let result = try imported(pieces.reduce(Data(), +), "joined")
    #expect(result.status == .clean && result.tracks[0].damaged == 0, "\(result.notes)")
    #expect(result.notes.contains { $0.contains("joined of 3 pieces") }, "\(result.notes)")
    #expect(try SessionCheck(path: result.folder.path, decodes: true).run().isHealthy)
    let original = try SessionImporter(
      ImportOptions(file: clip, name: "clip", into: folder.file("Recordings").path)
    ).run()
    #expect(try digests(result.folder.path) == digests(original.folder.path))
  }

  @Test func `packets that are missing inside a piece or at its end are told`() throws {
    let (_, pieces) = try pieces(["-c:v", "libx264", "-bf", "0", "-b:v", "400k"])
    let packet = 188
    func without(_ range: Range<Int>, _ data: Data) -> Data {
      Data(data[..<(range.lowerBound * packet)]) + Data(data[(range.upperBound * packet)...])
    }
    let count = pieces[0].count / packet
    for (name, first) in [
      ("inside", without(count / 2..<count / 2 + 1, pieces[0])),
      ("end", without(count - 1..<count, pieces[0])),
    ] {
      let result = try imported(first + pieces[1], name)
      #expect(result.status == .lossy, "\(name)")
      #expect(!result.notes.contains { $0.contains("joined") }, "\(name): \(result.notes)")
    }
    let second = try imported(pieces[0] + without(40..<41, pieces[1]), "second")
    #expect(second.status == .lossy)
  }
}
