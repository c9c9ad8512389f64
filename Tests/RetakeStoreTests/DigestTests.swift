import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeStore

struct DigestTests {
  /// The digest of the session after a change of the sample.
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

  @Test func `rows behind a gap of many rows are in the digest`() throws {
    func far(_ packets: inout [PacketRecord], _ frames: inout [FrameRecord]) {
      (packets[9].index, frames[9].sequence) = (20_000, 20_000)
    }
    let plain = try digest { far(&$0, &$1) }

    #expect(
      try digest { packets, frames in
        far(&packets, &frames)
        packets[9].digest = .zero
      } != plain)
    #expect(
      try digest { packets, frames in
        far(&packets, &frames)
        frames[9].arrivalNanoseconds += 1
      } != plain)
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
    ("UPDATE packet SET size = size + 1 WHERE \"index\" = 3", "packet with track 0, index 3"),
    ("UPDATE frame SET pts_ns = pts_ns + 1 WHERE sequence = 0", "frame with track 0, sequence 0"),
    ("DELETE FROM event", ""),
    ("UPDATE meta SET value = '0' WHERE key = 'closed'", "meta with key 'closed'"),
    ("INSERT INTO meta VALUES ('extra', '1', 5)", "meta with key 'extra'"),
  ])
  func `a changed row is noticed and named`(sql: String, row: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    try Sample().write(path)
    #expect(try StoreReader(opening: path).checkRows().isEmpty)

    try sqlite(path, sql)

    let complaints = try StoreReader(opening: path).checkRows()
    #expect(complaints.map(\.kind) == (row.isEmpty ? [.digest] : [.row, .digest]))
    #expect(row.isEmpty || complaints[0].text.contains("the row of \(row) differs"))
  }

  @Test func `a damaged checksum is told from a damaged row`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    try Sample().write(path)
    try sqlite(path, "UPDATE frame SET row_check = row_check + 1 WHERE sequence = 4")
    let complaints = try StoreReader(opening: path).checkRows()
    #expect(complaints.map(\.kind) == [.check] && complaints[0].key == [0, 4])
  }

  @Test func `rows of the first schema are held against their digest`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    let writer = try StoreWriter(creating: path, durability: .building, version: 1)
    Sample().append(to: writer)
    try writer.close()
    let reader = try StoreReader(opening: path)
    #expect(try reader.schemaVersion == 1 && reader.checkRows().isEmpty)
    try sqlite(path, "UPDATE frame SET pts_ns = 5 WHERE sequence = 4")
    #expect(try StoreReader(opening: path).checkRows().map(\.kind) == [.digest])
  }

  @Test func `an orphan row is noticed`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    try Sample().write(path)

    try sqlite(path, "DELETE FROM packet WHERE \"index\" = 9")

    let complaints = try StoreReader(opening: path).checkReferences()
    #expect(complaints.map(\.text) == ["1 row of frame refers to a missing packet"])
  }
}
