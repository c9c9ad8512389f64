import Foundation
import RetakeCore
import RetakeSession
import RetakeStore
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeRewrite

/// Rows and media that contradict each other are never replayed, cut or copied without an error.
@Suite struct StoredPixelTests {
  /// Exchanges the images of two frames, with correct checksums in the database.
  private func exchange(
    _ first: Int, _ second: Int, of imported: ImportedClip, track: Int = 0
  ) throws {
    let store = try StoreReader(opening: imported.path + "/session.sqlite")
    var rows = try [first, second].map {
      try #require(try store.frame(FrameID(track: track, sequence: $0)))
    }
    let kept = rows[0]
    (rows[0].packet, rows[0].entry, rows[0].shown) = (
      rows[1].packet, rows[1].entry, rows[1].shown
    )
    (rows[1].packet, rows[1].entry, rows[1].shown) = (kept.packet, kept.entry, kept.shown)
    let writer = try StoreWriter(continuing: imported.path + "/session.sqlite")
    writer.replace(rows)
    try writer.close()
  }

  private func target(_ imported: ImportedClip) -> SessionTarget {
    SessionTarget(into: imported.folder.file("Made").path, name: "made")
  }

  @Test(arguments: [Clip.openGOP, .shownAgain])
  func `two exchanged pictures are named by reading, trim, optimize and the doctor`(
    clip: Clip
  ) throws {
    let imported = try ImportedClip(clip)
    let rows = try imported.reader().index.store.frames(track: 0, sequences: 0..<100)
    let second = try #require((33..<100).first { rows[$0].pixelHash != rows[30].pixelHash })
    try exchange(30, second, of: imported)
    let reader = try imported.reader(ReadOptions())

    var named: [Int] = []
    for sequence in 0..<100 {
      do {
        _ = try reader.frame(FrameID(track: 0, sequence: sequence))
      } catch SessionError.pixelMismatch(let session, let frame) {
        #expect(session == imported.path && frame.track == 0)
        named.append(frame.sequence)
      }
    }
    #expect(named == [30, second])

    let trim = SessionTrim(of: imported.path, .init(target: target(imported)))
    let optimize = SessionTranscode(of: imported.path, .init(target: target(imported)))
    for run in [{ _ = try trim.run() }, { _ = try optimize.run() }] {
      do {
        try run()
        Issue.record("it was made in silence")
      } catch SessionError.pixelMismatch(_, let frame) {
        #expect(frame.sequence == 30)
      }
      #expect(!FileManager.default.fileExists(atPath: imported.folder.file("Made/made").path))
    }
    let findings = try SessionCheck(path: imported.path, decodes: true).run().findings
    #expect(findings.contains { $0.frame?.sequence == 30 && $0.severity == .error })
    let error = SessionError.pixelMismatch(
      session: imported.path, frame: FrameID(track: 0, sequence: 30))
    #expect(error.advice?.contains("retake session check \(imported.path) --deep") == true)
  }

  /// The frame named by the error, in words; `nil` if the error names no frame.
  private func named(_ body: () throws -> some Any) -> String? {
    do {
      _ = try body()
      return nil
    } catch SessionError.pixelMismatch(_, let frame) {
      return "\(frame)"
    } catch {
      return "\(error)"
    }
  }

  @Test(arguments: [33, 62, 108])
  func `a trim names the frame that is captured first, wherever it encodes and copies`(
    second: Int
  ) throws {
    let imported = try ImportedClip(.openGOP)
    try exchange(30, second, of: imported)
    for (from, to) in [(0, 4_000), (310, 3_640), (500, 3_640), (990, 3_640)] {
      let trim = SessionTrim(
        of: imported.path,
        .init(from: .milliseconds(from), to: .milliseconds(to), target: target(imported)))
      #expect(named { try trim.run() } == "0:30", "from \(from) ms")
    }
    #expect(
      named { try SessionTranscode(of: imported.path, .init(target: target(imported))).run() }
        == "0:30")
  }

  @Test func `of several tracks the frame that is captured first is named`() throws {
    let imported = try ImportedClip(.twoTracks)
    try exchange(20, 25, of: imported, track: 1)
    try exchange(2, 6, of: imported, track: 2)
    let target = target(imported)
    #expect(
      named { try SessionTrim(of: imported.path, .init(target: target)).run() } == "2:2")
    #expect(
      named { try SessionTranscode(of: imported.path, .init(target: target)).run() } == "2:2")
  }

  @Test func `a row that is not the one that was written is named before its frame is read`() throws
  {
    let imported = try ImportedClip(.lateStart)
    _ = try runSQLite(
      arguments: [
        imported.path + "/session.sqlite",
        "UPDATE frame SET pts_ns = pts_ns + 1 WHERE sequence = 3",
      ])
    let reader = try imported.reader(ReadOptions())

    do {
      _ = try reader.frame(FrameID(track: 0, sequence: 3))
      Issue.record("it was read in silence")
    } catch {
      #expect(error.facts.code == "store.corrupt")
      #expect(error.facts.cause?.contains("track 0, sequence 3 ") == true, "\(error)")
    }
    #expect(code { try reader.entries(of: 0, sequences: 0..<9) } == "store.corrupt")
    #expect(
      code { try SessionTrim(of: imported.path, .init(target: target(imported))).run() }
        == "store.corrupt")
  }

  @Test func `frames without a stored digest are counted`() throws {
    let imported = try ImportedClip(.lateStart)
    let store = try StoreReader(opening: imported.path + "/session.sqlite")
    var rows = try store.frames(track: 0, sequences: 4..<7)
    for place in rows.indices { rows[place].pixelHash = nil }
    let writer = try StoreWriter(continuing: imported.path + "/session.sqlite")
    writer.replace(rows)
    try writer.close()

    #expect(try imported.reader().undigestedFrames(tracks: [0]) == 3)
  }
}
