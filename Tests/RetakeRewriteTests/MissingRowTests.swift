import Foundation
import RetakeCore
import RetakeStore
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeRewrite
@testable import RetakeSession

/// Sessions in which rows of frames are missing, one or many.
@Suite struct MissingRowTests {
  private func sqlite(_ imported: ImportedClip, _ sql: String) throws {
    let result = try runSQLite(
      arguments: [imported.path + "/session.sqlite", sql])
    try #require(result.status == 0, "\(result.stderr)")
  }

  @Test func `a deep check also decodes the last frame where a row is missing`() throws {
    let imported = try ImportedClip(.lateStart)
    let database = imported.path + "/session.sqlite"
    var last = try #require(
      try StoreReader(opening: database).frames(
        track: 0, sequences: 19..<20
      ).first)
    last.pixelHash = Digest128(of: "other pixels")
    let writer = try StoreWriter(continuing: database)
    writer.replace([last])
    try writer.close()
    try sqlite(imported, "DELETE FROM frame WHERE sequence = 3")

    let findings = try SessionCheck(path: imported.path, decodes: true).run().findings

    let pixels = findings.filter { $0.code == "session.check.pixels" }
    #expect(pixels.map(\.frame) == [FrameID(track: 0, sequence: 19)], "\(findings)")
    #expect(findings.contains { $0.code == "session.check.gap" })
  }

  @Test func `a session without a frame lasts no time`() throws {
    let imported = try ImportedClip(.lateStart)
    try sqlite(imported, "DELETE FROM frame")

    let info = try imported.reader().info()

    #expect(info.frames.captured == 0 && info.durationNanoseconds == 0)
    let summary = try SessionSummary(of: SessionFolder(path: imported.path))
    #expect(summary.frames == 0 && summary.durationNanoseconds == 0)
  }

  /// A session whose frames from the fifth on have much higher sequences. A writer wrote its rows,
  /// so their checksums are valid.
  private func withGap(hasPixels: Bool) throws -> ImportedClip {
    let imported = try ImportedClip(.lateStart)
    let database = imported.path + "/session.sqlite"
    let store = try imported.reader().index.store
    let (segments, parts) = (try store.segments(), try store.segmentTracks())
    let packets = try store.packets(track: 0, indexes: 0..<99)
    var frames = try store.frames(track: 0, sequences: 0..<99)
    for place in frames.indices {
      if place >= 5 { frames[place].sequence += 5_000 }
      if !hasPixels { (frames[place].entry, frames[place].pixelHash) = (nil, nil) }
    }
    try FileManager.default.removeItem(atPath: database)
    let writer = try StoreWriter(creating: database, durability: .building)
    writer.setMeta("kind", "imported")
    writer.append(segments)
    writer.append(parts)
    writer.append(packets)
    writer.append(frames)
    try writer.close()
    return imported
  }

  @Test func `frames behind a gap of many rows get their pixel digests`() throws {
    let imported = try withGap(hasPixels: false)
    let reader = try SessionReader(
      SessionFolder(path: imported.path), options: ReadOptions(framesPerChain: nil))

    let found = try MissingPixels(reader).find(track: 0)

    #expect(found.map(\.sequence) == Array(0..<5) + Array(5_005..<5_020))
    #expect(found.allSatisfy { $0.pixelHash != nil && $0.cause == nil })
  }

  @Test func `frames behind a gap of many rows are exported and are in a replay copy`() throws {
    let imported = try withGap(hasPixels: true)

    var csv = ""
    try SessionExport(of: imported.path).table(.frames, as: .csv) { csv += $0 }
    #expect(csv.utf8.count { $0 == UInt8(ascii: "\n") } == 21)

    let target = SessionTarget(into: imported.folder.file("Fast").path, name: "fast")
    let copy = try SessionTranscode(of: imported.path, .init(target: target)).run()
    #expect(copy.frames == 20 && copy.exact)
  }
}
