import Foundation
import RetakeCore
import RetakeSession
import RetakeStore
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeRewrite

/// Rows that differ from the last commit are never replayed, cut or copied without an error.
@Suite struct TamperedRowTests {
  struct Change: Sendable, CustomTestStringConvertible {
    var name: String
    var sql: String
    /// The error's message about the row.
    var says: String

    var testDescription: String { name }
  }

  static let changes = [
    Change(
      name: "a frame in the middle is missing", sql: "DELETE FROM frame WHERE sequence = 5",
      says: "the row of frame with track 0, sequence 5 is missing"),
    Change(
      name: "the last frames are missing", sql: "DELETE FROM frame WHERE sequence >= 40",
      says: "the row of frame with track 0, sequence 40 is missing"),
    Change(
      name: "a packet and its frame are missing",
      sql: "DELETE FROM frame WHERE packet = 20; DELETE FROM packet WHERE \"index\" = 20",
      says: "the row of packet with track 0, index 20 is missing"),
    Change(
      name: "a frame has another number",
      sql: "UPDATE frame SET sequence = 1000000000000 WHERE sequence = 119",
      says: "the row of frame with track 0, sequence 1000000000000 differs from the written"),
    Change(
      name: "the track's colors are others", sql: "UPDATE segment_track SET matrix = 'bt2020'",
      says: "the row of segment_track with segment 0, track 0 differs from the written row"),
    Change(
      name: "the track is turned", sql: "UPDATE segment_track SET rotation = 90",
      says: "the row of segment_track with segment 0, track 0 differs from the written row"),
    Change(
      name: "the pixels have another shape", sql: "UPDATE segment_track SET aspect_numerator = 7",
      says: "the row of segment_track with segment 0, track 0 differs from the written row"),
    Change(
      name: "an event was added",
      sql:
        "INSERT INTO event VALUES (0, 0, NULL, 'device', 'thermal', '{\"state\":\"critical\"}', 0)",
      says: "the row of event with ordinal 0 differs from the written row"),
    Change(
      name: "a fact is another", sql: "UPDATE meta SET value = 'lossy' WHERE key = 'status'",
      says: "the row of meta with key 'status' differs from the written row"),
    Change(
      name: "the session says that it was never closed",
      sql: "UPDATE meta SET value = '0' WHERE key = 'closed'",
      says: "the row of meta with key 'closed' differs from the written row"),
    Change(
      name: "the digest is gone", sql: "DELETE FROM meta WHERE key = 'digest'",
      says: "the last commit's ordinal or digest is gone"),
  ]

  private func change(_ imported: ImportedClip, _ sql: String) throws {
    let result = try runSQLite(arguments: [imported.path + "/session.sqlite", sql])
    #expect(result.status == 0, "\(result.stderr)")
  }

  /// The error as a command prints it.
  private func error(_ body: () throws -> some Any) -> String? {
    do {
      _ = try body()
      return nil
    } catch {
      let error = error as? any CodedError
      return "\(error?.code ?? "?"): \(error?.cause ?? "") \(error?.advice ?? "")"
    }
  }

  @Test(arguments: changes)
  func `rows that are missing, added or altered are named before anything is read`(
    change: Change
  ) throws {
    let imported = try ImportedClip(.openGOP)
    try self.change(imported, change.sql)
    let reader = try imported.reader(ReadOptions())
    let target = SessionTarget(into: imported.folder.file("Made").path, name: "made")
    let media = imported.folder.file("made.mkv").path
    let frame = FrameID(track: 0, sequence: 0)

    let errors: [String: String?] = [
      "frame": error { try reader.frame(frame) },
      "entries": error { try reader.entries(of: 0, sequences: 0..<9) },
      "events": error { try reader.events() },
      "input": error { try reader.inputDigest(tracks: [0]) },
      "digest": error { try reader.sessionDigest() },
      "runs": error { try reader.liveRuns() },
      "packets": error { try reader.checkPackets(of: frame) },
      "media": error { try SessionExport(of: imported.path).media(to: media) },
      "table": error {
        try SessionExport(of: imported.path).table(.frames, as: .csv) { _ in }
      },
    ]
    for (name, error) in errors {
      #expect(error?.hasPrefix("store.corrupt: ") == true, "\(name): \(error ?? "nothing")")
      #expect(error?.contains(change.says) == true, "\(name): \(error ?? "nothing")")
      #expect(
        error?.contains("retake session check \(imported.path)") == true, "\(error ?? "nothing")")
    }
    let trim = error { try SessionTrim(of: imported.path, .init(target: target)).run() }
    #expect(trim?.contains(change.says) == true, "\(trim ?? "nothing")")
    #expect(!FileManager.default.fileExists(atPath: media))
    #expect(!FileManager.default.fileExists(atPath: imported.folder.file("Made/made").path))
    // Inspecting a session does not check it: its current content is reported.
    #expect(throws: Never.self) { try reader.info() }
  }

  @Test(arguments: [
    ("DELETE FROM segment_track", "rows are missing or were added"),
    (
      "UPDATE segment_track SET pixel_format = 'bayer_rggb8'",
      "the row of segment_track with segment 0, track 0 differs from the written row"
    ),
  ])
  func `a session whose tracks are gone or altered is damaged, and not one of another kind`(
    sql: String, says: String
  ) throws {
    let imported = try ImportedClip(.openGOP)
    try change(imported, sql)

    let found = error { try imported.reader(ReadOptions()) }

    #expect(found?.hasPrefix("store.corrupt: ") == true, "\(found ?? "nothing")")
    #expect(found?.contains(says) == true, "\(found ?? "nothing")")
  }

  @Test func `a damaged session of the present schema is not called one that needs no migration`()
    throws
  {
    let imported = try ImportedClip(.openGOP)
    let target = SessionTarget(into: imported.folder.file("Made").path, name: "made")
    #expect(try SessionMigration(of: imported.path, to: target).run() == nil)
    try change(imported, "DELETE FROM frame WHERE sequence = 5")

    let found = error { try SessionMigration(of: imported.path, to: target).run() }

    #expect(found?.hasPrefix("store.corrupt: ") == true, "\(found ?? "nothing")")
    #expect(!FileManager.default.fileExists(atPath: target.into))
  }

  @Test func `a row that was added with its own checksum is named`() throws {
    let imported = try ImportedClip(.openGOP)
    let database = imported.path + "/session.sqlite"
    let facts = "SELECT value, row_check FROM meta WHERE key IN ('commit', 'digest') ORDER BY key"
    let before = try runCommand("sqlite3", arguments: ["-separator", " ", database, facts]).stdout
      .split(whereSeparator: \.isWhitespace)
    let writer = try StoreWriter(continuing: database)
    writer.append([
      EventRecord(ordinal: 0, timeNanoseconds: 0, source: "device", kind: "thermal", json: "{}")
    ])
    try writer.close()
    try change(
      imported,
      """
      UPDATE meta SET value = '\(before[0])', row_check = \(before[1]) WHERE key = 'commit';
      UPDATE meta SET value = '\(before[2])', row_check = \(before[3]) WHERE key = 'digest';
      """)

    let found = error { try imported.reader().events() }

    #expect(found?.contains("the row of event with ordinal 0 was added") == true, "\(found ?? "")")
  }

  @Test func `a checksum that is damaged alone takes nothing away`() throws {
    let imported = try ImportedClip(.openGOP)
    try change(imported, "UPDATE frame SET row_check = row_check + 1 WHERE sequence = 8")
    let reader = try imported.reader(ReadOptions())

    #expect(try reader.entries(of: 0, sequences: 0..<10_000).count == 120)
    #expect(throws: Never.self) { try reader.frame(FrameID(track: 0, sequence: 8)) }
    let findings = try SessionCheck(path: imported.path).run().findings
    #expect(findings.map(\.code) == ["session.check.check"])
  }

  /// A copy of a session without the rows of one packet and its frame, with correct checksums.
  private func withoutPacket(_ packet: Int, of imported: ImportedClip) throws -> String {
    let copy = imported.folder.file("Recordings/copy").path
    try FileManager.default.copyItem(atPath: imported.path, toPath: copy)
    try FileManager.default.removeItem(atPath: copy + "/session.sqlite")
    let store = try StoreReader(opening: imported.path + "/session.sqlite")
    let writer = try StoreWriter(creating: copy + "/session.sqlite", durability: .building)
    writer.append(try store.segments())
    writer.append(try store.segmentTracks())
    writer.append(
      try store.packets(track: 0, indexes: 0..<10_000).filter { $0.index != packet })
    writer.append(
      try store.frames(track: 0, sequences: 0..<10_000).filter { $0.packet != packet })
    try writer.close()
    return copy
  }

  @Test func `an export that lacks packets of the session is refused`() throws {
    let imported = try ImportedClip(.openGOP)
    let copy = try withoutPacket(20, of: imported)
    let out = imported.folder.file("out.mkv").path

    let found = error { try SessionExport(of: copy).media(to: out) }

    #expect(
      found?.contains("only 20 of the 119 packets of track 0 follow one another") == true,
      "\(found ?? "")")
    #expect(found?.contains("session check") == true && found?.contains("container") == false)
    let left = try FileManager.default.contentsOfDirectory(atPath: imported.folder.url.path)
    #expect(!left.contains { $0.hasSuffix(".mkv") })
  }

  @Test func `media that changed since it was indexed is not copied as good`() throws {
    let imported = try ImportedClip(.openGOP)
    let media = URL(
      filePath: imported.path + "/" + (try #require(imported.reader().mediaFiles().first)))
    var bytes = try Data(contentsOf: media)
    let middle = bytes.count / 2
    for place in middle..<middle + 8 { bytes[place] ^= 0xFF }
    let handle = try FileHandle(forWritingTo: media)
    try handle.write(contentsOf: bytes)
    try handle.close()
    let target = SessionTarget(into: imported.folder.file("Made").path, name: "made")
    let other = try ImportedClip(.openGOP)

    for body in [
      { _ = try SessionSnapshot(of: imported.path, to: target).run() },
      {
        _ = try SessionJoin(other.path, imported.path, method: .offset(0, driftPPM: 0))
          .run(to: target, isForced: true)
      },
    ] {
      let found = #expect(throws: SessionError.self) { try body() }
      #expect(found?.code == "session.media.mismatch" && found?.place?.file == media.path)
    }
    let made = imported.folder.file("Made").path
    #expect((try? FileManager.default.contentsOfDirectory(atPath: made))?.isEmpty != false)
  }

  @Test func `a list reads the first and last frame of a session and none between`() throws {
    let imported = try ImportedClip(.openGOP)
    let recordings = imported.folder.file("Recordings").path
    let info = try imported.reader().info()
    func summary() throws -> SessionSummary {
      try #require(try SessionList.summaries(in: recordings).first).summary.get()
    }
    let before = try summary()
    #expect(before.name == "clip" && before.status == info.status)
    #expect(before.frames == info.frames.captured && before.frames == 120)
    #expect(before.durationNanoseconds == info.durationNanoseconds)
    #expect(before.tracks.map(\.codec) == info.tracks.map(\.codec))
    #expect(before.tracks.map(\.width) == info.tracks.map(\.width))

    try change(imported, "DELETE FROM frame WHERE sequence BETWEEN 1 AND 118; DELETE FROM packet")
    #expect(try summary() == before)
  }

  @Test(arguments: [
    TrimTests.Replaced.nothing, .pipe, .deviceLink, .linkedFolder,
  ])
  func `a snapshot and an export of media that is not a file name the file`(
    replaced: TrimTests.Replaced
  ) throws {
    let imported = try ImportedClip(.openGOP)
    let media = imported.path + "/" + (try #require(imported.reader().mediaFiles().first))
    try replaced.put(at: media)
    let target = SessionTarget(into: imported.folder.file("Made").path, name: "made")
    let out = imported.folder.file("out.mp4").path

    for body in [
      { _ = try SessionSnapshot(of: imported.path, to: target).run() },
      { _ = try SessionExport(of: imported.path).media(to: out) },
    ] {
      let found = #expect(throws: (any Error).self) { try body() }
      let facts = (found as? any RetakeError)?.facts
      #expect(facts?.code == replaced.code)
      #expect(facts?.place?.file == media)
    }
    #expect(!FileManager.default.fileExists(atPath: target.into))
    #expect(!FileManager.default.fileExists(atPath: out))
  }

  @Test(arguments: ["link", "pipe"])
  func `a recorder's lock that is not a file is not taken`(kind: String) throws {
    let imported = try ImportedClip(.openGOP)
    let lock = imported.path + "/recorder.lock"
    if kind == "pipe" {
      #expect(mkfifo(lock, 0o600) == 0)
    } else {
      let outside = try imported.folder.write("mine", to: "outside")
      try FileManager.default.createSymbolicLink(
        atPath: lock, withDestinationPath: outside.path)
    }

    #expect(code { try RecorderLock(taking: lock) } == "store.file.unsafe")
    #expect(!RecorderLock.isHeld(lock))
    #expect(try imported.reader().info().status == .clean)
  }
}
