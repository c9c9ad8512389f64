import Foundation
import RetakeCore
import RetakeSession
import RetakeStore
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeRecord

/// H.264 with a single IDR picture, the first: each key packet is a recovery point, and the frames
/// after it need the frames before it.
@Suite struct IntraRefreshTests {
  private let folder: TemporaryFolder
  private static let count = 100

  init() throws {
    folder = try TemporaryFolder("retake-refresh")
  }

  private func clip(_ name: String) throws -> String {
    let path = folder.file(name).path
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25",
        "-frames:v", "\(Self.count)", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "0",
        "-x264-params", "intra-refresh=1:keyint=20", "-muxdelay", "0", path,
      ])
    try #require(made.status == 0, "\(made.stderr)")
    return path
  }

  /// The digests of a continuous decoding.
  private func digests(_ path: String) throws -> [Digest128] {
    let stream = try MediaFileSource(path: path).open()
    var digests: [Digest128] = []
    while let frame = try stream.next() { digests.append(frame.frame.pixelDigest) }
    return digests
  }

  private func record(
    _ path: String, segment: Duration = .seconds(600), machine: Recorder.Machine = .still()
  ) throws -> RecordingResult {
    var options = RecorderOptions.test(folder, preset: .copy)
    options.segmentDurationMax = segment
    return try Recorder(
      try MediaFileSource(path: path), options: options, machine: machine
    ).run()
  }

  private func check(_ session: String, _ expected: [Digest128]) throws {
    let rows = try StoredFrames(session)
    #expect(rows.all.map(\.pixelHash) == expected.map(Optional.some))
    #expect(rows.all.allSatisfy { $0.cause == nil })
    // Backwards, so that each frame is decoded from its entry.
    let reader = try SessionReader(opening: session, options: ReadOptions(poisonsMemory: true))
    for sequence in expected.indices.reversed() {
      let frame = try reader.frame(FrameID(track: 0, sequence: sequence))
      #expect(frame.pixelDigest == expected[sequence], "\(sequence)")
    }
    let doctor = try SessionCheck(path: session, decodes: true).run()
    #expect(doctor.isHealthy && doctor.damagedFrames == 0)
  }

  @Test(arguments: ["a.mkv", "b.mp4", "c.flv", "d.ts"], [Duration.seconds(600), .seconds(1)])
  func `every frame of a copy replays as a continuous decoding gives it`(
    name: String, segment: Duration
  ) throws {
    let path = try clip(name)
    let expected = try digests(path)
    #expect(expected.count == Self.count)
    let result = try record(path, segment: segment)
    #expect(result.status == .clean && result.progress.frames.recorded == Self.count)
    #expect(result.progress.segments == (segment == .seconds(1) ? 3 : 1))
    try check(result.folder.path, expected)
    let entries = try StoredFrames(result.folder.path).all.map {
      ($0.packet ?? 0) - ($0.entry ?? 0)
    }
    #expect(entries.max() ?? 0 < 40, "no frame needs more than the two recovery points before it")
  }

  @Test func `a rebuilt index has every frame of the segments, which continue each other`() throws {
    let path = try clip("long.mkv")
    let expected = try digests(path)
    let session = try record(path, segment: .seconds(1)).folder.path
    try FileManager.default.removeItem(atPath: session + "/session.sqlite")
    #expect(try SessionRecovery(session, fromMedia: true).run().frames == Self.count)
    try check(session, expected)
  }

  @Test func `the close finds the entries that the recorder had no time for`() throws {
    let path = try clip("late.mkv")
    let expected = try digests(path)
    let copier = PacketCopier(timeBase: TimeBase(1, 1_000))
    var without = 0
    let stream = try MediaFileSource(path: path).open()
    while let frame = try stream.next() {
      let made = try copier.packet(
        of: frame.frame, original: frame.original, wantsKey: false, hasTime: frame.pts != 0)
      if made?.sight == nil { without += 1 }
    }
    #expect(without > 10, "a recorder that began without time is exact after a recovery")

    let session = try record(path, segment: .seconds(1)).folder.path
    let rows = try StoredFrames(session)
    let writer = try StoreWriter(continuing: session + "/session.sqlite")
    writer.replace(
      rows.all.map { row in
        var row = row
        (row.entry, row.pixelHash) = (nil, nil)
        return row
      })
    writer.setMeta("closed", "0")
    try writer.commit()
    try writer.release()
    #expect(try SessionRecovery(session).run().damagedFrames == 0)
    try check(session, expected)
  }

  @Test
  func `a connection that begins between recovery points keeps the packets before its picture`()
    throws
  {
    let path = try clip("whole.ts")
    // Without the first picture, the only IDR picture.
    let cut = folder.file("cut.mkv").path
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-i", path, "-c", "copy", "-bsf:v", "noise=drop=lt(n\\,5)", cut,
      ])
    try #require(made.status == 0, "\(made.stderr)")
    let expected = try digests(cut)
    #expect((40..<95).contains(expected.count))
    let result = try record(cut)
    #expect(result.status == .clean && result.progress.frames.recorded == expected.count)
    try check(result.folder.path, expected)
    let rows = try StoredFrames(result.folder.path)
    #expect(rows.packets.count > rows.all.count, "the roll-in has no frames")
  }

  @Test func `a ring gives exact frames from its second recovery point on`() throws {
    let path = try clip("ring.mkv")
    let expected = try digests(path)
    var options = RecorderOptions.test(folder, preset: .copy)
    options.ring = .seconds(1)
    let holder = Mutex<Recorder?>(nil)
    let watch = RecordingWatch(captured: { frame in
      if frame.id.sequence == Self.count - 1 { holder.withLock { $0 }?.trigger() }
    })
    let recorder = try Recorder(
      try MediaFileSource(path: path), options: options, machine: .still(), watch: watch)
    holder.withLock { $0 = recorder }
    let result = try recorder.run()
    holder.withLock { $0 = nil }
    let kept = result.progress.frames.captured
    #expect(result.status == .clean && kept >= 25)
    try check(result.folder.path, Array(expected.suffix(kept)))
  }
}
