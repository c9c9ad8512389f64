import Foundation
import RetakeCore
import RetakeStore
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

struct DamageTests {
  private func media(_ imported: ImportedClip) throws -> URL {
    URL(filePath: imported.path + "/" + (try imported.reader().mediaFiles()[0]))
  }

  /// Flips one bit in the middle of a packet.
  private func flip(packet: Int, of imported: ImportedClip) throws {
    let record = try #require(try imported.reader().index.packet(track: 0, index: packet))
    let place = Int(try #require(record.offset)) + record.size / 2
    var bytes = try Data(contentsOf: media(imported))
    bytes[place] ^= 4
    try bytes.write(to: media(imported))
  }

  @Test func `a flipped bit in the media is found and only its group of pictures fails`() throws {
    let imported = try ImportedClip(.openGOP)
    let rows = try imported.reader().index.store.frames(track: 0, sequences: 0..<120)
    let packet = 40
    let hit = rows.filter { ($0.entry ?? 0) <= packet && packet <= ($0.packet ?? 0) }
    try flip(packet: packet, of: imported)

    let diagnosis = try SessionCheck(path: imported.path).run()
    let reader = try imported.reader()
    var failed: [Int] = []
    for row in rows {
      do {
        _ = try reader.frame(FrameID(track: 0, sequence: row.sequence))
      } catch SessionError.mediaMismatch(let file, let track, let found, let frame, _) {
        failed.append(row.sequence)
        #expect(file.hasSuffix("media/original.mp4") && track == 0 && found == packet)
        #expect(frame?.sequence == rows.first { $0.packet == packet }?.sequence)
      }
    }

    #expect(
      diagnosis.findings.map(\.code).prefix(3) == [
        "session.check.file", "session.check.packet", "session.check.frame",
      ])
    #expect(diagnosis.findings[1].packet == packet)
    let named = diagnosis.findings.dropFirst(2).flatMap { finding -> [Int] in
      guard let first = finding.frame, let last = finding.lastFrame else { return [] }
      return Array(first.sequence...last.sequence)
    }
    #expect(named == hit.map(\.sequence) && diagnosis.damagedFrames == hit.count)
    #expect(!diagnosis.isHealthy)
    // A neighbor that the decoder shows only after the damaged packet may fail with it.
    #expect(Set(failed).isSuperset(of: hit.map(\.sequence)))
    #expect(!hit.isEmpty && failed.count <= hit.count + 3)
  }

  @Test func `missing and cut media are told apart and named`() throws {
    let imported = try ImportedClip(.variableRate)
    let file = try media(imported)
    let whole = try Data(contentsOf: file)
    try whole.prefix(whole.count / 2).write(to: file)
    let last = try imported.reader().tracks[0].frameCount - 1

    #expect(
      code { try imported.reader().frame(FrameID(track: 0, sequence: last)) }
        == "session.media.mismatch")
    #expect(try !SessionCheck(path: imported.path).run().isHealthy)

    try FileManager.default.removeItem(at: file)
    #expect(
      code { try imported.reader().frame(FrameID(track: 0, sequence: 0)) }
        == "session.media.missing")
    let codes = try SessionCheck(path: imported.path).run().findings.map(\.code)
    #expect(codes.contains("session.check.media"))
  }

  @Test func `a pointer of Git LFS in place of a file says to fetch the file`() throws {
    let imported = try ImportedClip(.variableRate)
    let pointer = Data(
      ("version https://git-lfs.github.com/spec/v1\noid sha256:"
        + String(repeating: "0", count: 64) + "\nsize 26185\n").utf8)
    func expect(_ file: String, _ read: () throws -> Void) throws {
      let error = #expect(throws: (any Error).self) { try read() } as? any CodedError
      // The first check of the file reports it.
      #expect(["session.file.pointer", "media.open.foreign"].contains(error?.code))
      #expect(error?.advice?.contains("git lfs pull") == true)
      #expect(error?.place?.file?.hasSuffix(file) == true)
      let diagnosis = try SessionCheck(path: imported.path).run()
      #expect(!diagnosis.isHealthy)
      let advice = diagnosis.findings.compactMap(\.advice)
      #expect(advice.contains { $0.contains("git lfs pull") }, "\(diagnosis.findings)")
      #expect(!advice.contains { $0.contains("recover") || $0.contains("import") }, "\(advice)")
    }
    try pointer.write(to: media(imported))
    // Calls that need no media still work.
    #expect(try imported.reader().tracks.count == 1)
    try expect(media(imported).lastPathComponent) {
      _ = try imported.reader().frame(FrameID(track: 0, sequence: 0))
    }
    try pointer.write(to: URL(filePath: imported.path + "/session.sqlite"))
    try expect("session.sqlite") { _ = try SessionReader(opening: imported.path) }
  }

  @Test func `a damaged database is a typed error and the doctor says so`() throws {
    let imported = try ImportedClip(.lateStart)
    let database = URL(filePath: imported.path + "/session.sqlite")
    let whole = try Data(contentsOf: database)
    for step in 0..<120 {
      var bytes = whole
      bytes[100 + (step * 5_003) % (whole.count - 100)] ^= UInt8(1 << (step % 8))
      try bytes.write(to: database)
      let diagnosis = try SessionCheck(path: imported.path).run()
      if diagnosis.isHealthy {
        // Bits of free pages and of the header's counters: no row has changed.
        #expect(
          try imported.reader().index.store.checkRows().allSatisfy { $0.kind == .check })
      }
    }
    try whole.prefix(whole.count - 1).write(to: database)

    #expect(code { try imported.reader() } == "store.truncated")
    #expect(
      try SessionCheck(path: imported.path).run().findings.map(\.code) == [
        "session.check.database", "session.check.media",
      ])
  }

  @Test func `a changed row is found by the doctor`() throws {
    let imported = try ImportedClip(.lateStart)
    let result = try runSQLite(
      arguments: [
        imported.path + "/session.sqlite",
        "UPDATE frame SET pts_ns = pts_ns + 1 WHERE sequence = 3",
      ])
    #expect(result.status == 0)

    let diagnosis = try SessionCheck(path: imported.path).run()

    #expect(
      diagnosis.findings.map(\.code) == ["session.check.row", "session.check.digest"])
    #expect(diagnosis.findings[0].frame == FrameID(track: 0, sequence: 3))
  }

  @Test func `a lossy import names its damaged frames and why they are lost`() throws {
    let clean = try ImportedClip(.motionJPEG)
    var bytes = try Data(contentsOf: media(clean))
    let record = try #require(try clean.reader().index.packet(track: 0, index: 30))
    let place = Int(try #require(record.offset))
    bytes.replaceSubrange(place..<place + record.size, with: Data(count: record.size))
    let folder = try TemporaryFolder()
    let file = folder.file("hurt.avi")
    try bytes.write(to: file)
    let result = try SessionImporter(
      ImportOptions(file: file.path, name: "hurt", into: folder.url.path)
    ).run()

    let diagnosis = try SessionCheck(path: result.folder.path).run()

    let finding = try #require(diagnosis.findings.first { $0.code == "session.check.cause" })
    #expect(finding.frame == FrameID(track: 0, sequence: 30) && finding.severity == .warning)
    #expect(finding.message.contains("frame 0:30 cannot be replayed, as the session says: media."))
    #expect(diagnosis.isHealthy && diagnosis.damagedFrames == 1 && diagnosis.status == .lossy)
  }

  @Test func `a database that names a file elsewhere is refused`() throws {
    let imported = try ImportedClip(.lateStart)
    for path in ["../../etc/passwd", "/etc/passwd", "media//x", "media/./x"] {
      _ = try runSQLite(
        arguments: [imported.path + "/session.sqlite", "UPDATE segment SET file = '\(path)'"])
      #expect(code { try imported.reader() } == "session.file.unsafe")
    }
  }

  @Test func `damage that was there at the import is recorded and stays where it is`() throws {
    let clean = try ImportedClip(.openGOP)
    try flip(packet: 50, of: clean)
    let folder = try TemporaryFolder()

    let result = try SessionImporter(
      ImportOptions(file: try media(clean).path, name: "hurt", into: folder.url.path)
    ).run()

    let reader = try SessionReader(
      opening: result.folder.path, options: ReadOptions(verifiesPixels: true))
    let entries = try reader.entries(of: 0, sequences: 0..<200)
    let damaged = entries.filter { $0.damage != nil }
    #expect(try SessionCheck(path: result.folder.path, decodes: true).run().isHealthy)
    if damaged.isEmpty {
      // If the decoder noticed no damage, the bytes define the image.
      #expect(result.status == .clean)
    } else {
      #expect(result.status == .lossy)
      #expect(damaged.count < 40)
      let findings = try SessionCheck(path: result.folder.path).run().findings
      let named = findings.filter { $0.code == "session.check.cause" }.flatMap { finding in
        Array((finding.frame?.sequence ?? 0)...(finding.lastFrame?.sequence ?? 0))
      }
      #expect(named == damaged.map(\.id.sequence))
      #expect(
        code { try reader.frame(damaged[0].id) } == "session.frame.noPixels")
    }
    for entry in entries where entry.damage == nil { _ = try reader.frame(entry.id) }
  }

  /// Decoding in order reproduces the pixels of a frame whatever its entry says.
  @Test func `a deep check finds an entry from which other pixels come`() throws {
    let imported = try ImportedClip(.openGOP)
    let rows = try imported.reader().index.store.frames(track: 0, sequences: 0..<120)
    // The images before a key picture that refer to the group before it.
    let leading = rows.filter { row in
      guard let entry = row.entry, let packet = row.packet else { return false }
      return rows.contains { entry < $0.packet! && $0.packet! < packet && $0.entry == $0.packet }
    }
    let row = try #require(leading.last)
    let key = try #require(
      rows.compactMap { $0.entry == $0.packet ? $0.packet : nil }.last { $0 <= row.packet! })
    #expect(try SessionCheck(path: imported.path, decodes: true).run().findings == [])

    let store = try imported.reader().index.store
    let wrongly = SessionFolder(path: imported.folder.file("Recordings/wrong").path)
    try FileManager.default.createDirectory(atPath: wrongly.path, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: imported.path + "/media", toPath: wrongly.media)
    let writer = try StoreWriter(creating: wrongly.database, durability: .building)
    writer.append(try store.files())
    writer.append(try store.segments())
    writer.append(try store.segmentTracks())
    writer.append(try store.packets(track: 0, indexes: 0..<200))
    writer.append(
      rows.map { other in
        var other = other
        if other.sequence == row.sequence { other.entry = key }
        return other
      })
    try writer.close()
    let reader = try SessionReader(opening: wrongly.path, options: ReadOptions(framesPerChain: nil))
    for other in rows.prefix(row.sequence + 1) {
      _ = try reader.frame(FrameID(track: 0, sequence: other.sequence))
    }
    let findings = try SessionCheck(path: wrongly.path, decodes: true).run().findings

    let wrong = findings.filter { $0.code == "session.check.pixels" }
    #expect(wrong.map(\.frame) == [FrameID(track: 0, sequence: row.sequence)])
    #expect(wrong.first?.message.contains("decoded from packet \(key)") == true)
  }

  @Test func `a damaged picture that shows old memory varies and every other one is the same`()
    throws
  {
    let clean = try ImportedClip(.motionJPEG)
    var bytes = try Data(contentsOf: media(clean))
    for packet in stride(from: 3, to: 60, by: 4) {
      let record = try #require(try clean.reader().index.packet(track: 0, index: packet))
      let place = Int(try #require(record.offset)) + record.size * 2 / 3
      bytes.replaceSubrange(place..<place + 24, with: Data(repeating: 0x5A, count: 24))
    }
    let folder = try TemporaryFolder()
    let file = folder.file("hurt." + (try media(clean).pathExtension))
    try bytes.write(to: file)

    let result = try SessionImporter(
      ImportOptions(file: file.path, name: "hurt", into: folder.url.path)
    ).run()

    let plain = try SessionReader(opening: result.folder.path)
    let poisoned = try SessionReader(
      opening: result.folder.path, options: ReadOptions(poisonsMemory: true))
    let entries = try plain.entries(of: 0, sequences: 0..<60)
    for entry in entries where entry.damage == nil {
      #expect(
        try plain.frame(entry.id).pixelDigest == poisoned.frame(entry.id).pixelDigest)
    }
    let damages = Set(entries.compactMap(\.damage))
    #expect(!damages.isEmpty)
    #expect(damages.isSubset(of: [FrameCause.varies, FrameCause.reported]))
    #expect(entries.count { $0.damage == nil } >= 45)
  }

  @Test func `a file of which nothing can be decoded is named, not its copy`() throws {
    let clean = try ImportedClip(.motionJPEG)
    var bytes = try Data(contentsOf: media(clean))
    for packet in 0..<60 {
      let record = try #require(try clean.reader().index.packet(track: 0, index: packet))
      let place = Int(try #require(record.offset))
      bytes.replaceSubrange(place..<place + record.size, with: Data(count: record.size))
    }
    let folder = try TemporaryFolder()
    let file = folder.file("hurt.avi")
    try bytes.write(to: file)

    let error =
      #expect(throws: (any Error).self) {
        try SessionImporter(
          ImportOptions(file: file.path, name: "hurt", into: folder.file("into").path)
        ).run()
      } as? any CodedError
    #expect(error?.place?.file == file.resolvingSymlinksInPath().path)
    #expect(try contents(of: folder.url.path).count == 1)
  }

  @Test func `a faststart file cut short is imported as lossy`() throws {
    let folder = try TemporaryFolder()
    let clip = try Clip(
      name: "faststart", file: "fast.mp4", inputs: Clip.openGOP.inputs,
      output: Clip.openGOP.output + ["-movflags", "+faststart"]
    ).make(in: folder)
    let whole = try Data(contentsOf: clip)
    try whole.prefix(whole.count * 6 / 10).write(to: clip)

    let result = try SessionImporter(
      ImportOptions(file: clip.path, into: folder.file("Recordings").path)
    ).run()

    #expect(result.status == .lossy)
    #expect(result.notes.contains { $0.contains("cut short") })
    #expect((20..<110).contains(result.tracks[0].frames))
    let reader = try SessionReader(
      opening: result.folder.path, options: ReadOptions(verifiesPixels: true))
    for entry in try reader.entries(of: 0, sequences: 0..<200) where entry.damage == nil {
      _ = try reader.frame(entry.id)
    }
    #expect(try SessionCheck(path: result.folder.path).run().isHealthy)
  }
}
