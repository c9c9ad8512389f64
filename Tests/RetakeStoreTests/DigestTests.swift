import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeStore

struct DigestTests {
  /// A change to the sample, and whether the session is another one after it.
  private func digest(_ change: (inout [PacketRecord], inout [FrameRecord]) -> Void) throws
    -> Digest128
  {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    let sample = Sample()
    let writer = try StoreWriter(creating: path, durability: .building)
    var (packets, frames) = (sample.packets, sample.frames)
    change(&packets, &frames)
    writer.append([sample.segment])
    writer.append([sample.track])
    writer.append(packets)
    writer.append(frames)
    writer.append([sample.event])
    try writer.close()
    return try StoreReader(opening: path).digest()
  }

  @Test func `the session digest covers packets and frames and not what is derived`() throws {
    let plain = try digest { _, _ in }

    #expect(try digest { packets, _ in packets[1].digest = .zero } != plain)
    #expect(try digest { _, frames in frames[9].ptsNanoseconds += 1 } != plain)
    #expect(try digest { _, frames in frames[9].arrivalNanoseconds += 1 } != plain)
    #expect(try digest { _, frames in frames[9].cause = "decode.refused" } != plain)
    #expect(try digest { _, frames in frames.removeLast() } != plain)
    #expect(try digest { packets, _ in packets[1].offset = nil } == plain)
    #expect(try digest { _, frames in frames[9].entry = 8 } == plain)
    #expect(try digest { _, frames in frames[9].pixelHash = nil } == plain)
  }

  @Test func `the input digest covers the selected tracks and all events`() throws {
    let folder = try TemporaryFolder()
    let sample = Sample()
    func reader(_ name: String, secondTrackPacket: String, event: String) throws -> StoreReader {
      let path = folder.file(name).path
      let writer = try StoreWriter(creating: path, durability: .building)
      writer.append([sample.segment])
      var second = sample.track
      second.track = 3
      writer.append([sample.track, second])
      writer.append(sample.packets)
      writer.append([
        PacketRecord(
          track: 3, index: 0, segment: 0, ordinal: 0, pts: 0, dts: 0, duration: 1, flags: [.key],
          size: 1, digest: Digest128(of: secondTrackPacket))
      ])
      writer.append([
        EventRecord(ordinal: 0, timeNanoseconds: 0, source: "device", kind: event)
      ])
      try writer.close()
      return try StoreReader(opening: path)
    }

    let one = try reader("one.sqlite", secondTrackPacket: "a", event: "thermal")
    let two = try reader("two.sqlite", secondTrackPacket: "b", event: "thermal")
    let three = try reader("three.sqlite", secondTrackPacket: "a", event: "memory")

    #expect(try one.digest(tracks: [0]) == two.digest(tracks: [0]))
    #expect(try one.digest(tracks: [3]) != two.digest(tracks: [3]))
    #expect(try one.digest() != two.digest())
    #expect(try one.digest(tracks: [0]) != three.digest(tracks: [0]))
    #expect(try one.digest(tracks: [3, 0]) == one.digest())
  }

  @Test(arguments: [
    "UPDATE packet SET size = size + 1 WHERE \"index\" = 3",
    "UPDATE frame SET pts_ns = pts_ns + 1 WHERE sequence = 0",
    "DELETE FROM event",
    "UPDATE meta SET value = '0' WHERE key = 'closed'",
    "INSERT INTO meta VALUES ('extra', '1')",
  ])
  func `a changed row is noticed`(sql: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    try Sample().write(path)
    #expect(try StoreReader(opening: path).checkDigest().isEmpty)

    try sqlite(path, sql)

    let complaints = try StoreReader(opening: path).checkDigest()
    #expect(complaints.map(\.kind) == [.digest])
  }

  @Test func `an orphan row is noticed`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    try Sample().write(path)

    try sqlite(path, "DELETE FROM packet WHERE \"index\" = 9")

    let complaints = try StoreReader(opening: path).checkReferences()
    #expect(complaints.map(\.text) == ["1 rows of frame refer to a missing packet"])
  }
}
