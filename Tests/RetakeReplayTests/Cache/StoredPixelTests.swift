import Foundation
import RetakeCore
import RetakeSession
import RetakeStore
import RetakeTestSupport
import Testing

@testable import RetakeReplay

/// A run over a session in which rows were exchanged.
@Suite struct StoredPixelTests {
  /// A copy of a recording in which two frames have each other's images, with correct checksums in
  /// the database.
  private func exchanged(in place: CacheRun) throws -> String {
    let copy = place.folder.file("figures").path
    try FileManager.default.copyItem(
      atPath: packageRoot.appending(path: "Recordings/figures").path, toPath: copy)
    let store = try StoreReader(opening: copy + "/session.sqlite")
    var rows = try [40, 41].map { try #require(try store.frame(FrameID(track: 0, sequence: $0))) }
    (rows[0].packet, rows[1].packet) = (rows[1].packet, rows[0].packet)
    (rows[0].entry, rows[1].entry) = (rows[1].entry, rows[0].entry)
    try #require(rows[0].pixelHash != rows[1].pixelHash)
    let writer = try StoreWriter(continuing: copy + "/session.sqlite")
    writer.replace(rows)
    try writer.close()
    return copy
  }

  @Test(arguments: [0, 1, 2, 4, 8])
  func `the first frame whose pixels are not the stored ones is named, whatever the workers`(
    workers: Int
  ) throws {
    var place = try CacheRun()
    place.session = try exchanged(in: place)

    do {
      _ = try place.run(CacheRun.branches(), workers: workers)
      Issue.record("it was replayed in silence")
    } catch let error as any CodedError {
      #expect(error.code == "session.pixels.mismatch")
      #expect(error.place?.frame == FrameID(track: 0, sequence: 40))
      #expect(error.advice?.contains("--deep") == true)
    }
  }

  @Test func `what a cache kept of other pixels is not used`() throws {
    var place = try CacheRun()
    let copy = place.folder.file("figures").path
    try FileManager.default.copyItem(
      atPath: packageRoot.appending(path: "Recordings/figures").path, toPath: copy)
    place.session = copy
    _ = try place.run(CacheRun.branches(), cache: try place.cache())
    let store = try StoreReader(opening: copy + "/session.sqlite")
    var row = try #require(try store.frame(FrameID(track: 0, sequence: 7)))
    row.pixelHash = Digest128(of: [1, 2, 3])
    let writer = try StoreWriter(continuing: copy + "/session.sqlite")
    writer.replace([row])
    try writer.close()

    do {
      _ = try place.run(CacheRun.branches(), cache: try place.cache())
      Issue.record("what was kept took the frame's place")
    } catch let error as any CodedError {
      #expect(error.code == "session.pixels.mismatch")
      #expect(error.place?.frame?.sequence == 7)
    }
  }
}
