import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

@Suite struct RebuildTests {
  private func database(_ imported: ImportedClip) -> URL {
    URL(filePath: imported.path + "/session.sqlite")
  }

  private func pixels(_ path: String) throws -> [Digest128] {
    let reader = try SessionReader(opening: path, options: ReadOptions(verifiesPixels: true))
    return try reader.tracks.flatMap { track in
      try (0..<track.frameCount).map {
        try reader.frame(FrameID(track: track.track, sequence: $0)).pixelDigest
      }
    }
  }

  @Test(arguments: [Clip.openGOP, .twoTracks, .mpeg2, .transport, .motionJPEG])
  func `an index that is gone is made again, the same as at the import`(clip: Clip) throws {
    let imported = try ImportedClip(clip)
    let (digest, before) = (try imported.reader().sessionDigest(), try pixels(imported.path))
    try FileManager.default.removeItem(at: database(imported))

    let found = try SessionCheck(path: imported.path).run()
    #expect(found.findings.first?.code == "session.check.database")
    #expect(found.findings.first?.advice?.contains("recover \(imported.path) --from-media") == true)
    #expect(code { try imported.reader() } == "session.open.noDatabase")
    #expect(code { try SessionRecovery(imported.path).run() } == "session.open.noDatabase")

    let result = try SessionRecovery(imported.path, fromMedia: true).run()
    #expect(result.sessionDigest == digest && result.status == .clean)
    #expect(result.rebuiltFrames == before.count)
    #expect(try pixels(imported.path) == before)
    let names = try FileManager.default.contentsOfDirectory(atPath: imported.path).sorted()
    #expect(names == ["NOTES.md", "media", "session.sqlite"])
    let again = try SessionRecovery(imported.path, fromMedia: true).run()
    #expect(!again.wasOpen && again.sessionDigest == digest)
  }

  @Test func `without media no index can be made, and the session stays as it is`() throws {
    let imported = try ImportedClip(.openGOP)
    let media = URL(fileURLWithPath: imported.path).appending(path: "media")
    try FileManager.default.removeItem(at: media)
    let before = try Data(contentsOf: database(imported))
    let refused = code { try SessionRecovery(imported.path, fromMedia: true).run() }
    #expect(refused == "session.recover.noMedia")
    #expect(try Data(contentsOf: database(imported)) == before)
  }

  @Test func `what no media holds is kept from a damaged database where its rows are whole`() throws
  {
    let imported = try ImportedClip(.lateStart)
    let writer = try StoreWriter(continuing: database(imported).path)
    writer.append(
      (0..<5).map {
        EventRecord(
          ordinal: $0, timeNanoseconds: Int64($0), source: "device", kind: "thermal",
          json: #"{"state":"fair"}"#)
      })
    writer.append([RunRecord(run: 0, kind: "live", pipeline: "{}", startedNanoseconds: 0)])
    try writer.close()
    _ = try runSQLite(
      arguments: [
        database(imported).path,
        "UPDATE event SET time_ns = 77 WHERE ordinal = 2; UPDATE frame SET pts = 5 WHERE "
          + "sequence = 3",
      ])

    let damaged = try SessionCheck(path: imported.path).run().findings
    let rows = damaged.filter { $0.code == "session.check.row" }
    #expect(rows.map(\.table) == ["frame", "event"])
    #expect(rows.first?.frame == FrameID(track: 0, sequence: 3))
    #expect(rows.last?.message.contains("ordinal 2") == true)

    let result = try SessionRecovery(imported.path, fromMedia: true).run()
    #expect(result.wasOpen && result.frames == 20)
    let reader = try imported.reader()
    #expect(try reader.events().map(\.timestamp.nanoseconds) == [0, 1, 3, 4])
    #expect(try reader.index.store.runs().count == 1)
    #expect(try reader.info().source == "late.mkv")
    #expect(FileManager.default.fileExists(atPath: database(imported).path + ".damaged"))
    #expect(try SessionCheck(path: imported.path, decodes: true).run().findings.isEmpty)
  }

  private func withSensor() throws -> ImportedClip {
    let imported = try ImportedClip(.lateStart)
    let writer = try StoreWriter(continuing: database(imported).path)
    let samples = SampleWriter(writer)
    let sensor = try samples.add(
      name: "imu", kind: "gyroscope", unit: "rad/s", channels: ["x"], source: "imu.csv")
    for number in 0..<3 { try samples.append(sensor, time: Int64(number), [Double(number)]) }
    try samples.finish()
    try writer.close()
    return imported
  }

  @Test func `samples that a damaged database lost are a loss`() throws {
    let imported = try withSensor()
    let made = try runSQLite(
      arguments: [
        database(imported).path,
        "UPDATE sample SET \"values\" = zeroblob(8) WHERE \"index\" = 1",
      ])
    try #require(made.status == 0, "\(made.stderr)")

    let result = try SessionRecovery(imported.path, fromMedia: true).run()

    #expect(result.status == .lossy && result.notes.isEmpty)
    #expect(
      result.losses == "the index was damaged: 0 of 1 sensor and 1 of 3 samples are gone")
    #expect(try imported.reader().sensorReader?.sensors.map(\.sampleCount) == [2])
  }

  @Test func `a recovery without the old index says that sensors of other files are not in it`()
    throws
  {
    let imported = try withSensor()
    try FileManager.default.removeItem(at: database(imported))
    let result = try SessionRecovery(imported.path, fromMedia: true).run()
    #expect(result.status == .clean && result.notes.count == 1)
    #expect(result.notes.first?.contains("--sensor") == true)
  }

  @Test func `a recovery that was killed is finished by the next one`() throws {
    let imported = try ImportedClip(.lateStart)
    let digest = try imported.reader().sessionDigest()
    let whole = try Data(contentsOf: database(imported))
    // Killed during the build: the hidden folder exists without a lock.
    try FileManager.default.removeItem(at: database(imported))
    let hidden = imported.folder.file("Recordings/.clip.0123ABCD")
    try FileManager.default.createDirectory(at: hidden, withIntermediateDirectories: true)
    #expect(try SessionRecovery(imported.path, fromMedia: true).run().sessionDigest == digest)
    #expect(!FileManager.default.fileExists(atPath: hidden.path))

    // Killed when only the hidden folder remained to be removed.
    try FileManager.default.createDirectory(at: hidden, withIntermediateDirectories: true)
    #expect(try SessionRecovery(imported.path, fromMedia: true).run().sessionDigest == digest)
    #expect(!FileManager.default.fileExists(atPath: hidden.path))

    // Killed between the two renames: the old database has been moved away, and the new one does
    // not have its name yet.
    let path = database(imported).path
    try FileManager.default.moveItem(atPath: path, toPath: path + ".recovered")
    try whole.prefix(4_000).write(to: URL(filePath: path + ".damaged"))
    #expect(try SessionRecovery(imported.path, fromMedia: true).run().sessionDigest == digest)

    // Killed before the first rename: the old one is still in its place, with its log.
    try FileManager.default.moveItem(atPath: path, toPath: path + ".recovered")
    try whole.prefix(4_000).write(to: URL(filePath: path))
    try Data("log".utf8).write(to: URL(filePath: path + "-wal"))
    #expect(try SessionRecovery(imported.path, fromMedia: true).run().sessionDigest == digest)
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    #expect(try SessionCheck(path: imported.path).run().findings.isEmpty)
  }

  @Test func `each database that a recovery replaces is kept, and the first one keeps its name`()
    throws
  {
    let imported = try ImportedClip(.lateStart)
    let whole = try Data(contentsOf: database(imported))
    let replaced = [4_000, 3_000, 2_000].map { Data(whole.prefix($0)) }
    for bytes in replaced {
      try bytes.write(to: database(imported))
      #expect(try SessionRecovery(imported.path, fromMedia: true).run().frames == 20)
    }
    let kept = try [".damaged", ".damaged-2", ".damaged-3"].map {
      try Data(contentsOf: URL(filePath: database(imported).path + $0))
    }
    #expect(kept == replaced)
  }

  /// A folder of a recording that has only media.
  private func recording(_ clip: Clip, files: Int, in folder: TemporaryFolder) throws
    -> SessionFolder
  {
    let made = try clip.make(in: folder)
    let site = SessionFolder(path: folder.file("Recordings/yard").path)
    let media = URL(filePath: site.path + "/media")
    try FileManager.default.createDirectory(at: media, withIntermediateDirectories: true)
    for number in 0..<files {
      try FileManager.default.copyItem(
        at: made, to: media.appending(path: "video-0000\(number).mkv"))
    }
    return site
  }

  @Test func `a file whose clock restarts late continues one frame after the file before`() throws {
    let folder = try TemporaryFolder()
    let site = try recording(.lateStart, files: 2, in: folder)

    #expect(try SessionRecovery(site.path, fromMedia: true).run().frames == 40)

    let times = try SessionReader(opening: site.path).entries(of: 0, sequences: 0..<40)
      .map(\.timestamp.nanoseconds)
    try #require(times.count == 40)
    #expect(times[0] == 3_500_000_000)
    // The 19 frames after the first last 633 ms.
    #expect(times[20] - times[19] == 33_000_000)
  }

  @Test func `frames of a recording that committed no packet have the times of their file`() throws
  {
    let folder = try TemporaryFolder()
    let clip = Clip(
      name: "first file", file: "first.mkv",
      inputs: ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25", "-frames:v", "10"],
      output: ["-c:v", "mpeg4"])
    let site = try recording(clip, files: 1, in: folder)
    let stream = try MediaDemuxer(path: folder.file("first.mkv").path).videoStream()
    let shape = DecodedFact.Shape(width: 96, height: 64, format: .i420)
    let writer = try StoreWriter(creating: site.database, durability: .recording)
    writer.append([
      SegmentRecord(index: 0, file: "media/video-00000.mkv", isClosed: false, bytes: 0)
    ])
    writer.append([SegmentTrackRecord(segment: 0, track: 0, of: stream, shape: shape)])
    try writer.commit()
    try writer.release()

    #expect(try TailRows(site: site, report: { _ in true }).append() == 10)

    let reader = try SessionReader(site, options: ReadOptions(framesPerChain: nil))
    let rows = try reader.index.store.frames(track: 0, sequences: 0..<99)
    let times = (0..<10).map { Int64($0) * 40_000_000 }
    #expect(rows.map(\.ptsNanoseconds) == times && rows.map(\.arrivalNanoseconds) == times)
  }

  @Test func `an interrupted rebuild leaves the session as it was`() throws {
    let imported = try ImportedClip(.openGOP)
    try FileManager.default.removeItem(at: database(imported))
    let before = try contents(of: imported.path)
    let stopped = SessionRecovery(imported.path, fromMedia: true) { _ in false }
    #expect(code { try stopped.run() } == "session.interrupted")
    #expect(try contents(of: imported.path) == before)
    #expect(
      try FileManager.default.contentsOfDirectory(
        atPath: imported.folder.file("Recordings").path) == ["clip"])
  }

  @Test func `a session of a newer version is told by name and never rebuilt`() throws {
    let imported = try ImportedClip(.lateStart)
    _ = try runSQLite(
      arguments: [database(imported).path, "PRAGMA user_version = 5"])
    let before = try contents(of: imported.path)
    #expect(
      code { try SessionRecovery(imported.path, fromMedia: true).run() }
        == "store.schema.tooNew")
    #expect(try contents(of: imported.path) == before)
    let finding = try SessionCheck(path: imported.path).run().findings.first
    #expect(finding?.message == "the session has schema 5, this version reads up to 4")
    #expect(finding?.advice?.contains("Update retake") == true)
  }
}
