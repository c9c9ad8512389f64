import Foundation
import RetakeCore
import RetakeMedia
import RetakeRewrite
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// Packets that are stored as they are received.
@Suite struct CopyTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder("retake-copy")
  }

  private func clip(_ name: String, _ options: String...) throws -> String {
    let path = folder.file(name).path
    let result = try runFFmpeg(
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

  private static let hevc = "keyint=12:bframes=0:log-level=none:pools=1"

  @Test(
    arguments: [
      ("a.mkv", ["-c:v", "mjpeg"]), ("b.mkv", ["-c:v", "mpeg4", "-g", "12"]),
      ("c.mp4", ["-c:v", "libx264", "-bf", "0", "-g", "12"]),
      ("d.ts", ["-c:v", "libx264", "-bf", "0", "-g", "12"]),
      ("e.avi", ["-c:v", "mpeg4", "-g", "12"]), ("f.mkv", ["-c:v", "libvpx", "-g", "12"]),
      ("g.mkv", ["-c:v", "ffv1", "-g", "1"]),
      ("h.mp4", ["-c:v", "libx265", "-x265-params", hevc]),
      ("i.ts", ["-c:v", "libx265", "-x265-params", hevc]),
    ])
  func `every packet is stored as it came, and decodes to the same picture`(
    name: String, options: [String]
  ) throws {
    let path = folder.file(name).path
    let made = try runFFmpeg(
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
    if !name.hasSuffix(".ts") {
      #expect(rows.packets.map(\.digest) == frames.compactMap { $0.original?.packet.digest })
    }
    let reader = try SessionReader(
      opening: result.folder.path, options: ReadOptions(verifiesPixels: true))
    for sequence in [frames.count - 1, 0, 31, 30, 29, 7] {
      #expect(
        try reader.frame(FrameID(track: 0, sequence: sequence)).pixelDigest
          == frames[sequence].frame.pixelDigest)
    }
    #expect(try SessionCheck(path: result.folder.path, decodes: true).run().isHealthy)
  }

  @Test func `a packet without a start code is lost with what refers to it`() throws {
    let path = try clip("lost.ts", "-c:v", "libx264", "-bf", "0", "-g", "10", "-sc_threshold", "0")
    let copier = PacketCopier(timeBase: TimeBase(1, 90_000))
    var stored: [Int] = []
    for (number, frame) in try frames(path).enumerated() {
      var original = try #require(frame.original)
      if number == 23 {
        let packet = original.packet
        original.packet = try MediaPacket(
          index: packet.index, pts: packet.pts, dts: packet.dts, flags: packet.flags,
          bytes: [7, 7, 7, 7, 7])
      }
      let made = try copier.packet(
        of: frame.frame, original: original, wantsKey: false, hasTime: false)
      if let made {
        stored.append(number)
        #expect(made.packet.size > 0)
      }
    }
    #expect(Array(stored.prefix(31)) == Array(0..<23) + Array(30..<38))
  }

  @Test(arguments: [65_535, 65_536])
  func `a parameter set that the record cannot state the length of is refused`(bytes: Int) {
    let sequenceSet = [0x67, 66, 0, 30] + [UInt8](repeating: 1, count: 20)
    let pictureSet = [0x68] + [UInt8](repeating: 1, count: bytes - 1)
    let record = AnnexB.configuration([0, 0, 1] + sequenceSet + [0, 0, 1] + pictureSet)
    #expect((record == nil) == (bytes > 65_535))
  }

  @Test(arguments: ["yuv420p", "yuv422p", "yuv444p", "gray"])
  func `the record of HEVC's parameter sets says what an MP4's does`(format: String) throws {
    let words = ["-c:v", "libx265", "-x265-params", Self.hevc, "-pix_fmt", format]
    func extradata(_ name: String) throws -> [UInt8] {
      let path = folder.file(name).path
      let made = try runFFmpeg(
        arguments: [
          "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=98x66:rate=30",
          "-frames:v", "3",
        ] + words + [path])
      try #require(made.status == 0, "\(made.stderr)")
      return try MediaDemuxer(path: path).videoStream().extradata
    }
    let theirs = try extradata("a.mp4")
    let sets = try extradata("a.ts")
    let mine = try #require(HEVCConfiguration.record(of: sets))
    // Version, profile, tier and level; then chroma and bits; then layers and lengths.
    #expect(mine.prefix(13) == theirs.prefix(13))
    #expect(mine[16...18] == theirs[16...18] && mine[21] == theirs[21])
    #expect(mine[22] == 3)
    for count in 0..<sets.count / 2 {
      #expect(HEVCConfiguration.record(of: Array(sets.prefix(count))) == nil)
    }
  }

  @Test(arguments: ["mp4", "mov", "mkv"])
  func `an export keeps the last frame of a recording that does not begin at zero`(
    suffix: String
  ) throws {
    let path = try clip("late.mkv", "-output_ts_offset", "3.5", "-c:v", "mpeg4", "-g", "12")
    let result = try Recorder(
      try MediaFileSource(path: path), options: .test(folder, preset: .copy), machine: .still()
    ).run()
    let out = folder.file("out.\(suffix)").path
    #expect(try SessionExport(of: result.folder.path).media(to: out).map(\.packets) == [60])
    #expect(try frames(out).count == 60)
  }

  @Test func `an encrypted file is not recorded, and called that`() throws {
    let path = try clip(
      "secret.mp4", "-c:v", "libx264", "-encryption_scheme", "cenc-aes-ctr", "-encryption_key",
      "76a6c65c5ea762046bd749a2e632ccbb", "-encryption_kid", "a7e61c373e219033c21091fa607bf3b8")
    let refused = code {
      try Recorder(
        try MediaFileSource(path: path), options: .test(folder), machine: .still()
      ).run()
    }
    #expect(refused == "media.decode.encrypted")
    #expect(!FileManager.default.fileExists(atPath: folder.file("yard").path))
  }

  @Test func `a file that is encrypted behind a clear beginning is not recorded, and called that`()
    throws
  {
    let source = try clip("source.mkv", "-c:v", "libx264", "-bf", "0", "-g", "10")
    let key = [
      "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", "76a6c65c5ea762046bd749a2e632ccbb",
      "-encryption_kid", "a7e61c373e219033c21091fa607bf3b8",
    ]
    var files: [Data] = []
    for (name, options) in [("clear.mp4", []), ("hidden.mp4", key)] {
      let path = folder.file(name)
      let made = try runFFmpeg(
        arguments: ["-v", "error", "-nostdin", "-i", source, "-c", "copy"] + options + [path.path])
      try #require(made.status == 0, "\(made.stderr)")
      files.append(try Data(contentsOf: path))
    }
    let joined = try #require(BoxFile.clearBeginning(20, of: files[0], then: files[1]))
    try joined.write(to: folder.file("joined.mp4"))
    let refused = code { try MediaFileSource(path: folder.file("joined.mp4").path) }
    #expect(refused == "media.decode.encrypted")
  }

  @Test func `an export that nothing could read is refused, and the advice works`() throws {
    let path = try clip("late.mkv", "-c:v", "mpeg4", "-g", "12")
    let result = try Recorder(
      try MediaFileSource(path: path), options: .test(folder, preset: .copy), machine: .still()
    ).run()
    let out = folder.file("out.ts").path
    let error = #expect(throws: SessionError.self) {
      try SessionExport(of: result.folder.path).media(to: out)
    }
    #expect(error?.code == "session.export.differs")
    #expect(error?.message.hasPrefix("mpeg4 in .ts does not read back") == true)
    #expect(error?.advice?.hasSuffix("--media \(folder.file("out.mkv").path)") == true)
    #expect(!FileManager.default.fileExists(atPath: out))
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

  /// Two passes, so that the encoder plans ahead: some images are shown long after they were sent,
  /// by packets of one byte.
  private func layered(_ name: String, codec: String) throws -> String {
    for pass in 1...2 {
      _ = try clip(
        pass == 1 ? "first.nut" : name, "-c:v", codec, "-b:v", "200k", "-g", "128",
        "-auto-alt-ref", codec == "libvpx" ? "1" : "2", "-lag-in-frames", "25", "-cpu-used", "5",
        "-threads", "1", "-pass", "\(pass)", "-passlogfile", folder.file("pass-\(codec)").path)
    }
    return folder.file(name).path
  }

  @Test(arguments: [("again.webm", "libvpx-vp9"), ("again.mp4", "libvpx-vp9")])
  func `packets that show pictures of earlier ones are refused by name, and imported as they are`(
    name: String, codec: String
  ) throws {
    let path = try layered(name, codec: codec)
    let error = #expect(throws: RecordError.self) {
      try Recorder(
        try MediaFileSource(path: path), options: .test(folder, preset: .copy), machine: .still()
      ).run()
    }
    #expect(error?.code == "record.preset.copy")
    #expect(error?.cause?.contains("shows images of earlier packets") == true, "\(error as Any)")
    #expect(error?.advice?.contains("retake import") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.file("yard").path))

    let imported = try SessionImporter(
      ImportOptions(file: path, name: "imported", into: folder.url.path)
    ).run()
    let reader = try SessionReader(
      opening: imported.folder.path, options: ReadOptions(verifiesPixels: true))
    let raw = folder.file("raw.yuv").path
    let decoded = try runFFmpeg(
      arguments: ["-v", "error", "-nostdin", "-i", path, "-f", "rawvideo", raw])
    try #require(decoded.status == 0, "\(decoded.stderr)")
    let expected = try Data(contentsOf: URL(fileURLWithPath: raw))
    let bytes = 96 * 64 * 3 / 2
    #expect(expected.count == 60 * bytes && reader.tracks[0].frameCount == 60)
    for sequence in 0..<60 {
      let frame = try reader.frame(FrameID(track: 0, sequence: sequence))
      let found = (0..<3).flatMap { frame.bytes(of: $0) }
      #expect(found == Array(expected[sequence * bytes..<(sequence + 1) * bytes]), "\(sequence)")
    }
  }

  @Test
  func `hidden pictures of VP8 are refused by name, and none where each packet shows its own`()
    throws
  {
    let hidden = try layered("hidden.webm", codec: "libvpx")
    #expect(try MediaFileSource(path: hidden).copyRefusal() != nil)
    let plain = try clip("plain.webm", "-c:v", "libvpx", "-auto-alt-ref", "0", "-g", "12")
    #expect(try MediaFileSource(path: plain).copyRefusal() == nil)
    let super9 = try clip(
      "super.webm", "-c:v", "libvpx-vp9", "-auto-alt-ref", "0", "-deadline", "realtime",
      "-cpu-used", "8", "-g", "12")
    #expect(try MediaFileSource(path: super9).copyRefusal() == nil)
  }

  @Test
  func `a live source that shows a picture again ends the copy by name, and keeps what it had`()
    throws
  {
    let path = try layered("live.webm", codec: "libvpx-vp9")
    let copier = PacketCopier(timeBase: TimeBase(1, 1_000))
    var stored = 0
    var refusal: CopyRefusal?
    for frame in try frames(path) where refusal == nil {
      do {
        let packet = try copier.packet(
          of: frame.frame, original: frame.original, wantsKey: false, hasTime: true)
        #expect(packet?.sight?.digest == frame.frame.pixelDigest)
        stored += 1
      } catch let error as CopyRefusal {
        refusal = error
      }
    }
    guard case .shownAgain? = refusal else {
      Issue.record("\(stored) frames were stored, then \(refusal as Any)")
      return
    }
    #expect((1..<60).contains(stored))
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
        #expect(packet.sight?.digest == frame.frame.pixelDigest)
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
    #expect(try SessionCheck(path: result.folder.path, decodes: true).run().isHealthy)
  }
}
