import Foundation
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// Sources with damaged packets: a recording says the same about them as an import.
@Suite struct DamagedSourceTests {
  private let folder: TemporaryFolder
  private static let count = 60

  init() throws {
    folder = try TemporaryFolder("retake-damaged")
  }

  private func clip(_ name: String, _ options: String...) throws -> String {
    try clip(name, options)
  }

  private func clip(_ name: String, _ options: [String]) throws -> String {
    let path = folder.file(name).path
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=160x96:rate=25",
        "-frames:v", "\(Self.count)",
      ] + options + [path])
    try #require(made.status == 0, "\(made.stderr)")
    return path
  }

  /// Sets a part of packets to zero.
  ///
  /// - Parameter part: As a share of the packet's bytes.
  private func spoil(_ path: String, packets: [Int], part: Range<Double>) throws {
    let demuxer = try MediaDemuxer(path: path)
    var data = try Data(contentsOf: URL(filePath: path))
    while let packet = try demuxer.nextPacket() {
      guard packets.contains(packet.index), let offset = packet.offset else { continue }
      let bytes = Double(packet.size)
      let first = Int(offset) + Int(bytes * part.lowerBound)
      let end = Int(offset) + Int(bytes * part.upperBound)
      data.replaceSubrange(first..<end, with: Data(count: end - first))
    }
    try data.write(to: URL(filePath: path))
  }

  private func record(_ path: String, preset: RecordingPreset) throws -> RecordingResult {
    try Recorder(
      try MediaFileSource(path: path), options: .test(folder, preset: preset), machine: .still()
    ).run()
  }

  private func imported(_ path: String) throws -> ImportResult {
    try SessionImporter(
      ImportOptions(file: path, name: "imported", into: folder.url.path)
    ).run()
  }

  private func marked(_ session: String, track: Int = 0) throws -> [Int] {
    try StoredFrames(session).all.filter { $0.cause != nil }.map(\.sequence)
  }

  /// Each frame without a cause has its stored pixels, wherever decoding begins and whatever memory
  /// held.
  private func checkGood(_ session: String) throws {
    let rows = try StoredFrames(session).all
    for poisons in [false, true] {
      let options = ReadOptions(poisonsMemory: poisons)
      for order in [Array(rows), rows.reversed()] {
        let reader = try SessionReader(opening: session, options: options)
        for row in order where row.cause == nil {
          let id = FrameID(track: 0, sequence: row.sequence)
          #expect(try reader.frame(id).pixelDigest == row.pixelHash, "\(id)")
        }
      }
    }
  }

  @Test func `a frame that does not decode has a row with its cause`() throws {
    let path = try clip("broken.mov", "-c:v", "png")
    let broken = [10, 20, 30, 40]
    // From the first byte on, so that no part of the picture can be decoded.
    try spoil(path, packets: broken, part: 0..<1)
    let result = try record(path, preset: .ffv1)
    #expect(result.status == .lossy)
    #expect(result.progress.frames.captured == Self.count)
    #expect(result.progress.frames.recorded == Self.count - broken.count)
    #expect(try marked(result.folder.path) == broken)
    let rows = try StoredFrames(result.folder.path)
    #expect(broken.allSatisfy { rows.all[$0].cause?.hasPrefix("media.decode") == true })
    #expect(rows.all.map(\.pts) == (0..<Self.count).map { Int64($0) * (rows.all[1].pts ?? 0) })
    let info = try SessionReader(opening: result.folder.path).info()
    #expect(info.status == .lossy && info.frames.payloadMissing == broken.count)
    #expect(info.losses?.hasPrefix("4 frames: media.decode") == true)
    #expect(try marked(try imported(path).folder.path) == broken)
  }

  @Test(arguments: ["yuvj420p", "yuvj422p"])
  func `a torn JPEG in a copy is named, and the others replay with any memory`(
    format: String
  ) throws {
    let path = try clip("torn.mov", "-c:v", "mjpeg", "-q:v", "4", "-pix_fmt", format)
    try spoil(path, packets: [10, 30], part: 0.5..<1)
    let result = try record(path, preset: .copy)
    let found = try marked(result.folder.path)
    #expect(result.status == .lossy && result.progress.frames.recorded == Self.count)
    #expect(found == [10, 30])
    #expect(try marked(try imported(path).folder.path) == found)
    try checkGood(result.folder.path)
    #expect(try SessionReader(opening: result.folder.path).info().status == .lossy)
  }

  @Test func `a lost slice marks its picture and what refers to it in a copy`() throws {
    let raw = try clip(
      "whole.hevc", "-pix_fmt", "yuv420p", "-c:v", "libx265", "-x265-params",
      "log-level=error:keyint=25:min-keyint=25:scenecut=0:bframes=0:slices=2:ctu=16:pools=1", "-f",
      "hevc")
    try Self.withoutSlice(of: [10, 30], in: raw)
    let path = folder.file("slice.mkv").path
    let made = try runFFmpeg(
      arguments: ["-v", "error", "-nostdin", "-r", "25", "-i", raw, "-c", "copy", path])
    try #require(made.status == 0, "\(made.stderr)")
    let result = try record(path, preset: .copy)
    let found = try marked(result.folder.path)
    #expect(result.status == .lossy)
    #expect(found == Array(10..<25) + Array(30..<50))
    #expect(try marked(try imported(path).folder.path) == found)
    try checkGood(result.folder.path)
  }

  /// Removes the second slice of pictures.
  private static func withoutSlice(of pictures: [Int], in path: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    var (kept, picture, slice) = ([UInt8](), -1, 0)
    for unit in AnnexB.units(bytes) {
      // ITU-T H.265, Table 7-1: types up to 21 are slices; the first bit after the header says
      // whether the slice is a picture's first.
      let isSlice = (unit[unit.startIndex] >> 1) & 63 <= 21
      if isSlice {
        let isFirst = unit[unit.startIndex + 2] >> 7 == 1
        (picture, slice) = isFirst ? (picture + 1, 0) : (picture, slice + 1)
      }
      if isSlice, slice == 1, pictures.contains(picture) { continue }
      kept += [0, 0, 1] + unit
    }
    try Data(kept).write(to: URL(filePath: path))
  }

  /// Leaves one packet out of the middle of pictures of a transport stream.
  private static func withoutPacket(of pictures: [Int], in path: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    let packets = stride(from: 0, to: bytes.count, by: 188).map { bytes[$0..<$0 + 188] }
    // The first stream of FFmpeg's muxer.
    let video = packets.indices.filter {
      let packet = packets[$0]
      return Int(packet[packet.startIndex + 1] & 31) << 8 | Int(packet[packet.startIndex + 2])
        == 0x100
    }
    let starts = video.filter { packets[$0][packets[$0].startIndex + 1] & 0x40 != 0 }
    let lost = pictures.map { picture in
      let own = video.filter { $0 >= starts[picture] && $0 < starts[picture + 1] }
      return own[own.count * 4 / 5]
    }
    let kept = packets.indices.filter { !lost.contains($0) }.flatMap { packets[$0] }
    try Data(kept).write(to: URL(filePath: path))
  }

  @Test(arguments: [([0], 0..<24), ([24], 24..<48), ([24, 48], 24..<60)])
  func `a lost packet of a transport stream marks its own picture and what refers to it`(
    pictures: [Int], damaged: Range<Int>
  ) throws {
    // Noise, so that a key picture has several packets.
    let path = try clip(
      "lost.ts", "-vf", "noise=alls=20:all_seed=1", "-pix_fmt", "yuv420p", "-c:v", "libx265",
      "-x265-params",
      "log-level=error:keyint=24:min-keyint=24:scenecut=0:bframes=0:slices=3:ctu=16:pools=1")
    try Self.withoutPacket(of: pictures, in: path)
    let result = try imported(path)
    #expect(result.status == .lossy)
    #expect(try marked(result.folder.path) == Array(damaged))
    #expect(try SessionCheck(path: result.folder.path, decodes: true).run().isHealthy)
    try checkGood(result.folder.path)
    let causes = try StoredFrames(result.folder.path).all.map(\.cause)
    for preset in [RecordingPreset.copy, .ffv1] {
      let folder = try TemporaryFolder("retake-damaged")
      let recorded = try Recorder(
        try MediaFileSource(path: path), options: .test(folder, preset: preset), machine: .still()
      ).run()
      #expect(recorded.status == .lossy)
      #expect(try StoredFrames(recorded.folder.path).all.map(\.cause) == causes)
    }
  }

  private func losses(_ session: String) throws -> String? {
    try SessionReader(opening: session).info().losses
  }

  @Test(arguments: ["cut.mkv", "cut.webm", "cut.mp4"], [RecordingPreset.copy, .ffv1])
  func `a recording of a file that is cut says so as an import does`(
    name: String, preset: RecordingPreset
  ) throws {
    let codec = name.hasSuffix("webm") ? ["libvpx", "-g", "12"] : ["libx264", "-bf", "0"]
    let path = try clip(
      name,
      ["-pix_fmt", "yuv420p", "-c:v"] + codec
        + (name.hasSuffix("mp4") ? ["-g", "12", "-movflags", "frag_keyframe+empty_moov"] : []))
    let whole = try Data(contentsOf: URL(filePath: path))
    try whole.prefix(whole.count * 7 / 10).write(to: URL(filePath: path))
    let result = try record(path, preset: preset)
    let info = try #require(try losses(try imported(path).folder.path))
    #expect(info.contains("the file is cut short"))
    let recorded = try losses(result.folder.path)
    #expect(result.status == .lossy && recorded?.contains("the file is cut short") == true)
    let note = try #require(result.progress.notes?.first { $0.contains("is cut short") })
    #expect(info.contains(note))
  }

  @Test func `a file that a limit ends early lacks nothing`() throws {
    let path = try clip("early.mkv", ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "0"])
    let whole = try Data(contentsOf: URL(filePath: path))
    try whole.prefix(whole.count * 9 / 10).write(to: URL(filePath: path))
    var options = RecorderOptions.test(folder, preset: .copy)
    options.framesMax = 5
    let result = try Recorder(
      try MediaFileSource(path: path), options: options, machine: .still()
    ).run()
    #expect(result.status == .clean && result.progress.notes == nil)
  }

  /// The bytes after the picture's declared end, where 60 of its bytes are missing: no valid
  /// element, or an element that no cluster has and then an invalid element. Nil writes zeros into
  /// the picture instead.
  @Test(arguments: [[0, 1, 0, 1, 0, 1, 0, 1], [0x81, 0x84, 9, 9, 9, 9, 0, 1], nil])
  func `the picture whose bytes a hole of a Matroska file took is damaged`(
    behind: [UInt8]?
  ) throws {
    // VP8 shows no damage itself.
    let path = try clip(
      "hole.mkv",
      ["-vf", "noise=alls=20:all_seed=1", "-pix_fmt", "yuv420p", "-c:v", "libvpx", "-g", "60"])
    let demuxer = try MediaDemuxer(path: path)
    var place: Range<Int>?
    while let packet = try demuxer.nextPacket() {
      guard packet.index == 30, let offset = packet.offset else { continue }
      place = Int(offset) + packet.size / 2..<Int(offset) + packet.size + 40
    }
    let hole = try #require(place)
    var data = try Data(contentsOf: URL(filePath: path))
    if let behind {
      let end = hole.upperBound - 40
      data.replaceSubrange(end + 60..<end + 60 + behind.count, with: behind)
      data.removeSubrange(hole.lowerBound..<hole.lowerBound + 60)
    } else {
      data.replaceSubrange(hole, with: Data(count: hole.count))
    }
    try data.write(to: URL(filePath: path))
    let result = try imported(path)
    let causes = try StoredFrames(result.folder.path).all.map(\.cause)
    #expect(result.status == .lossy && causes[..<30].allSatisfy { $0 == nil })
    #expect(causes[30] == "media.packet.corrupt")
    for preset in [RecordingPreset.copy, .ffv1] {
      let folder = try TemporaryFolder("retake-damaged")
      let recorded = try Recorder(
        try MediaFileSource(path: path), options: .test(folder, preset: preset), machine: .still()
      ).run()
      #expect(recorded.status == .lossy)
      #expect(try StoredFrames(recorded.folder.path).all.map(\.cause) == causes)
    }
  }

  @Test func `a recording of an undamaged source decodes nothing again at its end`() throws {
    let path = try clip("whole.mov", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p")
    let result = try record(path, preset: .copy)
    #expect(result.status == .clean)
    #expect(try marked(result.folder.path).isEmpty)
    try checkGood(result.folder.path)
  }
}
