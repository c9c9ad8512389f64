import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// Packets that are stored as they come.
@Suite struct CopyTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder("retake-copy")
  }

  private func clip(_ name: String, _ options: String...) throws -> String {
    let path = folder.file(name).path
    let result = try runCommand(
      "ffmpeg",
      arguments: [
        "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30",
        "-frames:v", "60", "-pix_fmt", "yuv420p",
      ] + options + [path])
    try #require(result.status == 0, "\(result.stderr)")
    return path
  }

  private func frames(_ path: String) throws -> [SourceFrame] {
    let stream = try MediaFileSource(path: path).open()
    var frames: [SourceFrame] = []
    while let frame = try stream.next() { frames.append(frame) }
    return frames
  }

  @Test(
    arguments: [
      ("a.mkv", ["-c:v", "mjpeg"]), ("b.mkv", ["-c:v", "mpeg4", "-g", "12"]),
      ("c.mp4", ["-c:v", "libx264", "-bf", "0", "-g", "12"]),
      ("d.ts", ["-c:v", "libx264", "-bf", "0", "-g", "12"]),
      ("e.avi", ["-c:v", "mpeg4", "-g", "12"]), ("f.mkv", ["-c:v", "libvpx", "-g", "12"]),
      ("g.mkv", ["-c:v", "ffv1", "-g", "1"]),
    ])
  func `every packet is stored as it came, and decodes to the same picture`(
    name: String, options: [String]
  ) throws {
    let path = folder.file(name).path
    let made = try runCommand(
      "ffmpeg",
      arguments: [
        "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30",
        "-frames:v", "60", "-pix_fmt", name == "a.mkv" ? "yuvj420p" : "yuv420p",
      ] + options + [path])
    try #require(made.status == 0, "\(made.stderr)")
    let frames = try frames(path)
    #expect(frames.count >= 59)
    let result = try Recorder(
      try MediaFileSource(path: path), options: .test(folder, preset: .copy), machine: .still()
    ).run()
    #expect(result.status == .clean && result.progress.frames.recorded == frames.count)
    let rows = try StoredFrames(result.folder.path)
    #expect(rows.all.allSatisfy { $0.pixelHash != nil && $0.cause == nil })
    #expect(rows.packets.allSatisfy { $0.offset != nil }, "each packet is found where it lies")
    if name != "d.ts" {
      #expect(rows.packets.map(\.digest) == frames.compactMap { $0.original?.packet.digest })
    }
    let reader = try SessionReader(
      opening: result.folder.path, options: ReadOptions(verifiesPixels: true))
    for sequence in [frames.count - 1, 0, 31, 30, 29, 7] {
      #expect(
        try reader.frame(FrameID(track: 0, sequence: sequence)).pixelDigest
          == frames[sequence].frame.pixelDigest)
    }
    #expect(try SessionDoctor(path: result.folder.path, decodes: true).run().isHealthy)
  }

  @Test
  func `packets in another order than their frames, and pictures without packets, are refused`()
    throws
  {
    let path = try clip("b.mp4", "-c:v", "libx264", "-bf", "2")
    let options = RecorderOptions.test(folder, preset: .copy)
    let refused = code {
      try Recorder(try MediaFileSource(path: path), options: options, machine: .still()).run()
    }
    #expect(refused == "record.preset.copy")
    let drawn = code {
      try Recorder(try Scene(3).source, options: options, machine: .still()).run()
    }
    #expect(drawn == "record.preset.copy")
    #expect(!FileManager.default.fileExists(atPath: folder.file("yard").path))
  }

  @Test
  func `frames that hang on a packet that is missing have no pixels until the next key packet`()
    throws
  {
    let path = try clip("gap.mkv", "-c:v", "mpeg4", "-g", "10", "-sc_threshold", "1000000000")
    let copier = PacketCopier(timeBase: TimeBase(1, 1_000))
    var stored: [Int] = []
    for (number, frame) in try frames(path).enumerated() where number != 23 {
      let packet = try copier.packet(
        of: frame.frame, original: frame.original, wantsKey: false, hasTime: true)
      if let packet {
        stored.append(number)
        #expect(packet.pixelHash == frame.frame.pixelDigest)
      }
    }
    #expect(stored == Array(0..<23) + Array(30..<60))
  }

  @Test func `a recording goes on in segments that begin with the source's own key packets`() throws
  {
    let path = try clip("long.mkv", "-c:v", "mpeg4", "-g", "20", "-sc_threshold", "1000000000")
    var options = RecorderOptions.test(folder, preset: .copy)
    options.segmentDurationMax = .milliseconds(500)
    let result = try Recorder(
      try MediaFileSource(path: path), options: options, machine: .still()
    ).run()
    #expect(result.status == .clean && result.progress.segments == 3)
    #expect(try SessionDoctor(path: result.folder.path, decodes: true).run().isHealthy)
  }
}
