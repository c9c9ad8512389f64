import Foundation
import RetakeCore
import RetakeSession
import RetakeTestClips
import Testing

@testable import RetakeRewrite
@testable import RetakeStore

@Suite struct ShownAgainTests {
  private func rows(_ imported: ImportedClip) throws -> [FrameRecord] {
    try imported.reader().index.store.frames(track: 0, sequences: 0..<9_999)
  }

  private struct Picture: Hashable {
    var packet: Int?
    var shown: Int
  }

  @Test func `each frame is one picture of one packet`() throws {
    for clip in [Clip.shownAgain, .layeredVP9, .svtAV1, .packed] {
      let rows = try rows(try ImportedClip(clip))
      let pictures = rows.map { Picture(packet: $0.packet, shown: $0.shown) }
      #expect(Set(pictures).count == rows.count, "\(clip)")
    }
    let again = try rows(try ImportedClip(.shownAgain))
    #expect(again.count { $0.shown > 0 } > 50)
    #expect(again.contains { $0.shown > 8 })
    // A key image is kept for as long as its slot is not reused.
    let late = again.indices.filter { place in
      (again[place].packet ?? 0) < 3 && place > 150 && again[place].shown > 0
    }
    #expect(!late.isEmpty)
    let layered = try rows(try ImportedClip(.layeredVP9))
    #expect(layered.contains { $0.shown > 0 || ($0.packet ?? 0) < $0.sequence - 1 })
  }

  @Test(arguments: [Clip.shownAgain, .layeredVP9])
  func `a session of an older schema is read alike, and migrated to the same frames`(
    clip: Clip
  ) throws {
    let imported = try ImportedClip(clip)
    let store = try imported.reader().index.store
    let old = SessionFolder(path: imported.folder.file("Recordings/old").path)
    try FileManager.default.createDirectory(atPath: old.path, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: imported.path + "/media", toPath: old.media)
    try "# old\n".write(toFile: old.notes, atomically: true, encoding: .utf8)
    let writer = try StoreWriter(creating: old.database, durability: .building, version: 2)
    writer.append(try store.files())
    writer.append(try store.segments())
    writer.append(try store.segmentTracks())
    writer.append(try store.packets(track: 0, indexes: 0..<9_999))
    let rows = try rows(imported)
    writer.append(rows)
    try writer.close()

    let reader = try SessionReader(opening: old.path)
    #expect(reader.index.store.schemaVersion == 2)
    #expect(try reader.index.store.frames(track: 0, sequences: 0..<9_999) == rows)
    #expect(
      try reader.index.store.frames(track: 0, packets: 0...20).allSatisfy { row in
        rows[row.sequence] == row
      })
    for row in rows.reversed() {
      _ = try reader.frame(FrameID(track: 0, sequence: row.sequence))
    }
    #expect(try SessionCheck(path: old.path, decodes: true).run().findings.isEmpty)
    let result = try #require(
      try SessionMigration(
        of: old.path, to: SessionTarget(into: imported.folder.file("New").path, name: "old")
      ).run())
    let migrated = try SessionReader(opening: result.path)
    #expect(migrated.index.store.schemaVersion == 4)
    #expect(try migrated.index.store.frames(track: 0, sequences: 0..<9_999) == rows)
    #expect(try migrated.sessionDigest() == reader.sessionDigest())
    #expect(try migrated.sessionDigest() == imported.reader().sessionDigest())
    #expect(try SessionCheck(path: result.path, decodes: true).run().findings.isEmpty)
  }

  @Test func `two frames that say to be the same picture are found by the doctor`() throws {
    let imported = try ImportedClip(.shownAgain)
    let rows = try rows(imported)
    var row = try #require(rows.first { $0.shown > 0 })
    row.shown -= 1
    let writer = try StoreWriter(continuing: imported.path + "/session.sqlite")
    writer.replace([row])
    try writer.close()

    let findings = try SessionCheck(path: imported.path).run().findings
    #expect(findings.map(\.code) == ["session.check.row"])
    #expect(findings.first?.message.contains("are both said to be image") == true)
  }

  @Test(arguments: [Clip.shownAgain, .layeredVP9, .svtAV1])
  func `what is exported has every picture in order`(clip: Clip) throws {
    let imported = try ImportedClip(clip)
    let file = imported.folder.file("export.mkv")
    try SessionExport(of: imported.path).media(to: file.path)

    let again = try SessionImporter(
      ImportOptions(file: file.path, name: "again", into: imported.folder.file("Again").path)
    ).run()
    let exported = try SessionReader(opening: again.folder.path).index.store
      .frames(track: 0, sequences: 0..<9_999)
    #expect(try exported.map(\.pixelHash) == rows(imported).map(\.pixelHash))
  }
}
