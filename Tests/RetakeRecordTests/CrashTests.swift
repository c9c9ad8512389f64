import Foundation
import RetakeCore
import RetakeSession
import RetakeStore
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// A session's folder as a crash right after a commit leaves it: copied while the writer's thread
/// is stopped.
struct CrashImages {
  let folder: TemporaryFolder
  /// The data that the commits acknowledged, and the copy made at that moment.
  let images: [(line: RecordingProgress, path: String)]
  let whole: RecordingResult

  init(_ scene: Scene = Scene(90), preset: RecordingPreset = .mpeg4) throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    let reports = Reports()
    whole = try record(scene, options: .test(folder, preset: preset), machine: .ticking()) { line in
      guard !line.closed else { return }
      try? FileManager.default.copyItem(
        atPath: folder.file("yard").path, toPath: folder.file("crash-\(line.commit)").path)
      reports.add(line)
    }
    images = reports.all.map { ($0, folder.file("crash-\($0.commit)").path) }
  }
}

@Suite struct CrashTests {
  @Test func `a session that was never closed opens with all that was committed`() throws {
    let crash = try CrashImages()
    #expect(crash.images.count > 3)
    for image in crash.images {
      let reader = try SessionReader(
        opening: image.path, options: ReadOptions(verifiesPixels: true))
      #expect(try reader.status() == .unclosed)
      #expect(reader.tracks[0].frameCount == image.line.frames.captured)
      let last = image.line.lastSequence
      #expect(try packetDigest(of: reader, through: last) == image.line.packetDigest)
      for sequence in [last, 0, last / 2] {
        #expect(try reader.frame(FrameID(track: 0, sequence: sequence)).width == 64)
      }
    }
  }

  @Test func `a recovery keeps what was committed, flags the tail, and can be done again`() throws {
    let crash = try CrashImages()
    for image in crash.images {
      try Data("what came after the commit".utf8).append(to: image.path + "/media/video-00000.mkv")
      let result = try SessionRecovery(image.path).run()
      #expect(result.wasOpen && result.status == .recovered)
      #expect(result.frames == image.line.frames.captured && result.damagedFrames == 0)
      #expect(result.tailBytes >= 26)
      #expect(
        result.losses
          == "the recording was never closed; \(result.tailBytes) bytes after its last commit "
          + "are not used")
      let names = try FileManager.default.contentsOfDirectory(atPath: image.path).sorted()
      #expect(names == ["NOTES.md", "media", "session.sqlite"])
      let again = try SessionRecovery(image.path).run()
      #expect(!again.wasOpen && again.sessionDigest == result.sessionDigest)
      let events = try StoredFrames(image.path).events
      #expect(events.map(\.kind) == ["recording.cut"])
      let diagnosis = try SessionCheck(path: image.path, decodes: true).run()
      #expect(diagnosis.isHealthy && diagnosis.status == .recovered)
    }
  }

  @Test(arguments: [false, true])
  func `bytes that are appended after a recovery are an error`(hasTail: Bool) throws {
    let crash = try CrashImages()
    for image in crash.images {
      let media = image.path + "/media/video-00000.mkv"
      if hasTail { try Data("what came after the commit".utf8).append(to: media) }
      let result = try SessionRecovery(image.path).run()
      let size = try Data(contentsOf: URL(filePath: media)).count
      let segments = try StoredFrames(image.path).segments
      #expect(segments.map(\.isClosed) == [true] && segments.map(\.bytes) == [Int64(size)])
      let reader = try SessionReader(opening: image.path)
      #expect(try reader.info().status == .recovered)

      try Data(repeating: 0x5A, count: 5_000).append(to: media)
      let diagnosis = try SessionCheck(path: image.path, decodes: true).run()
      #expect(!diagnosis.isHealthy && diagnosis.status == .lossy)
      let errors = diagnosis.findings.filter { $0.severity == .error }.map(\.message)
      let text = "media/video-00000.mkv is not the file that was stored: it has "
      #expect(errors.contains("\(text)\(size + 5_000) bytes, not \(size)"), "\(errors)")
      let again = try SessionRecovery(image.path).run()
      #expect(!again.wasOpen && again.sessionDigest == result.sessionDigest)
    }
  }

  @Test func `a file that lost committed bytes stays incomplete after a recovery`() throws {
    let crash = try CrashImages()
    let image = try #require(crash.images.last)
    let before = try StoredFrames(image.path).segments
    let file = try FileHandle(
      forUpdating: URL(filePath: image.path + "/media/video-00000.mkv"))
    try file.truncate(atOffset: UInt64(try #require(before.first).bytes) - 10)
    try file.close()
    let result = try SessionRecovery(image.path).run()
    #expect(result.wasOpen && result.status == .lossy)
    #expect(try StoredFrames(image.path).segments == before)
  }

  @Test func `a recovery finds the entries and hashes that a recorder had no time for`() throws {
    let crash = try CrashImages()
    let image = try #require(crash.images.last)
    let rows = try StoredFrames(image.path)
    let writer = try StoreWriter(continuing: image.path + "/session.sqlite")
    writer.replace(
      rows.all.map { row in
        var row = row
        if row.sequence % 3 != 0 { (row.entry, row.pixelHash) = (nil, nil) }
        return row
      })
    try writer.commit()
    try writer.release()
    #expect(try StoredFrames(image.path).all != rows.all)
    let result = try SessionRecovery(image.path).run()
    try #require(result.tailBytes == 0)
    #expect(
      result.losses == "the recording was never closed; nothing came after its last commit")
    for (found, row) in zip(try StoredFrames(image.path).all, rows.all) { #expect(found == row) }
  }

  @Test func `damaged media is named frame by frame, and the rest stays`() throws {
    let crash = try CrashImages()
    let image = try #require(crash.images.last)
    let packets = try StoredFrames(image.path).packets
    let packet = packets[40]
    let next = packets.indices.first { $0 > 40 && packets[$0].flags.contains(.key) }
    let file = try FileHandle(
      forUpdating: URL(filePath: image.path + "/media/video-00000.mkv"))
    try file.seek(toOffset: UInt64(try #require(packet.offset)) + 20)
    try file.write(contentsOf: Data([0xA5, 0x5A, 0xA5, 0x5A]))
    try file.close()
    let result = try SessionRecovery(image.path).run()
    #expect(result.status == .lossy)
    let causes = try StoredFrames(image.path).all.map(\.cause)
    let end = next ?? packets.count
    #expect(causes.indices.filter { causes[$0] != nil } == Array(40..<end), "up to the next key")
    let reader = try SessionReader(opening: image.path)
    #expect(try reader.frame(FrameID(track: 0, sequence: 39)).width == 64)
  }

  @Test func `a recovery that died after its commit is completed`() throws {
    let crash = try CrashImages()
    let image = try #require(crash.images.first)
    let writer = try StoreWriter(continuing: image.path + "/session.sqlite")
    writer.setMeta("status", "recovered")
    writer.setMeta("closed", "1")
    try writer.commit()
    let copy = crash.folder.file("again").path
    try FileManager.default.copyItem(atPath: image.path, toPath: copy)
    try writer.release()
    #expect(FileManager.default.fileExists(atPath: copy + "/session.sqlite-wal"))
    let result = try SessionRecovery(copy).run()
    #expect(result.wasOpen && result.status == .recovered)
    #expect(!FileManager.default.fileExists(atPath: copy + "/session.sqlite-wal"))
    #expect(try !SessionRecovery(copy).run().wasOpen)
  }

  @Test func `a session that is being recorded is neither recovered nor recorded over`() throws {
    let folder = try TemporaryFolder()
    let codes = Reports.Codes()
    let path = folder.file("yard").path
    _ = try record(Scene(40), options: .test(folder), machine: .ticking()) { line in
      guard !line.closed else { return }
      codes.add(code { try SessionRecovery(path).run() })
      codes.add(code { try record(Scene(3), options: .test(folder)) })
    }
    #expect(Set(codes.all) == ["session.lock.held", "record.session.busy"])
    #expect(code { try record(Scene(3), options: .test(folder)) } == "record.name.taken")
    #expect(try folder.entries == ["yard"])
    #expect(!FileManager.default.fileExists(atPath: path + "/recorder.lock"))
    #expect(try !SessionRecovery(path).run().wasOpen)
    #expect(try SessionReader(opening: path).status() == .clean)
  }

  @Test func `of many recorders that want one name one wins`() throws {
    let folder = try TemporaryFolder()
    let codes = Reports.Codes()
    DispatchQueue.concurrentPerform(iterations: 20) { _ in
      codes.add(code { try record(Scene(3), options: .test(folder)) })
    }
    #expect(codes.all.count { $0 == nil } == 1)
    #expect(
      codes.all.compactMap(\.self).allSatisfy {
        ["record.session.busy", "record.name.taken"].contains($0)
      })
    #expect(try folder.entries == ["yard"])
  }

  @Test func `what is no session cannot be recovered`() throws {
    let folder = try TemporaryFolder()
    #expect(
      code { try SessionRecovery(folder.file("none").path).run() } == "session.open.notSession")
    #expect(try folder.entries == [])
  }
}
