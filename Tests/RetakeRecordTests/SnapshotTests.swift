import Foundation
import RetakeCore
import RetakeMedia
import RetakeRewrite
import RetakeSession
import RetakeStore
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeRecord

@Suite struct SnapshotTests {
  /// The content of a snapshot taken after a commit.
  private struct Taken: Sendable {
    var line: RecordingProgress
    var result: SessionCopyResult?
    var code: String?
  }

  @Test func `a session is copied while it is recorded, and each copy is whole`() throws {
    let folder = try TemporaryFolder()
    let taken = Mutex<[Taken]>([])
    let path = folder.file("yard").path
    let statuses = Reports.Codes()
    let whole = try record(Scene(90), options: .test(folder), machine: .ticking()) { line in
      guard !line.closed else { return }
      statuses.add(try? SessionReader(opening: path).info().status.rawValue)
      let target = SessionTarget(into: folder.file("Snapshots").path, name: "at-\(line.commit)")
      var item = Taken(line: line)
      item.code = code { item.result = try SessionSnapshot(of: path, to: target).run() }
      taken.withLock { $0.append(item) }
    }
    #expect(statuses.all.allSatisfy { $0 == "recording" })
    let all = taken.withLock { $0 }
    #expect(all.count > 3)
    for item in all {
      let result = try #require(item.result, "\(item.code ?? "")")
      #expect(result.frames == item.line.frames.captured && result.status == .clean)
      let doctor = try SessionCheck(path: result.path, decodes: true).run()
      #expect(doctor.findings.isEmpty, "\(doctor.findings)")
      let reader = try SessionReader(
        opening: result.path, options: ReadOptions(verifiesPixels: true))
      #expect(
        try packetDigest(of: reader, through: item.line.lastSequence) == item.line.packetDigest)
      for sequence in 0..<result.frames {
        #expect(try reader.frame(FrameID(track: 0, sequence: sequence)).width == 64)
      }
      let names = try FileManager.default.contentsOfDirectory(atPath: result.path).sorted()
      #expect(names == ["NOTES.md", "media", "session.sqlite"])
    }
    #expect(whole.status == .clean && whole.progress.frames.captured == 90)
    #expect(try SessionCheck(path: path, decodes: true).run().findings.isEmpty)
  }

  @Test func `a copy says how many megabytes are done, and stops when it is told to`() throws {
    let folder = try TemporaryFolder()
    let whole = try record(Scene(20), options: .test(folder))
    // A file that is large enough to be copied in pieces.
    try Data(count: 5 << 20).write(to: URL(filePath: whole.folder.path + "/media/gyro.csv"))
    let writer = try StoreWriter(continuing: whole.folder.path + "/session.sqlite")
    writer.append([
      FileRecord(path: "media/gyro.csv", role: "gyro", sha256: [UInt8](repeating: 0, count: 32))
    ])
    try writer.close()
    let copied = Mutex<[SessionCheck.Progress]>([])
    let target = SessionTarget(into: folder.file("Copies").path)
    _ = try SessionSnapshot(of: whole.folder.path, to: target) { progress in
      if progress.unit == .megabytes { copied.withLock { $0.append(progress) } }
      return true
    }.run()
    let told = copied.withLock { $0 }
    #expect(told.map(\.done) == told.map(\.done).sorted() && told.count > 4)
    #expect(told.allSatisfy { $0.total == 5 } && told.last?.done == 5)
    let stopped = code {
      try SessionSnapshot(
        of: whole.folder.path, to: SessionTarget(into: folder.file("Others").path)
      ) { $0.done < 2 }.run()
    }
    #expect(stopped == "session.interrupted")
    #expect(!FileManager.default.fileExists(atPath: folder.file("Others/yard").path))
  }

  @Test func `a session whose pictures change is exported as one file for each shape`() throws {
    let folder = try TemporaryFolder()
    let shots = (0..<30).map { number in
      Scene.Shot(
        width: (10..<20).contains(number) ? 96 : 64, height: 48, format: .i420, pts: Int64(number))
    }
    let whole = try record(Scene(shots), options: .test(folder, preset: .ffv1))
    let out = folder.file("yard.mkv").path
    let files = try SessionExport(of: whole.folder.path).media(to: out)
    #expect(files.map(\.packets) == [10, 10, 10])
    #expect(files.map(\.file) == (1...3).map { folder.file("yard-\($0).mkv").path })
    let widths = try files.map { try MediaDemuxer(path: $0.file).videoStream().width }
    #expect(widths == [64, 96, 64])
    #expect(
      code { try SessionExport(of: whole.folder.path).media(to: out) } == "session.export.exists")
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(left.sorted() == ["yard", "yard-1.mkv", "yard-2.mkv", "yard-3.mkv"])
  }

  @Test func `a closed session is copied as it is`() throws {
    let folder = try TemporaryFolder()
    let whole = try record(Scene(20), options: .test(folder))
    let target = SessionTarget(into: folder.file("Copies").path)
    let result = try SessionSnapshot(of: whole.folder.path, to: target).run()
    let original = try SessionReader(opening: whole.folder.path)
    #expect(try result.sessionDigest == original.sessionDigest())
    #expect(result.notes.isEmpty)
    #expect(
      code { try SessionSnapshot(of: whole.folder.path, to: target).run() } == "session.name.taken")
  }

  @Test func `a snapshot of what is damaged is refused or says so, and leaves nothing`() throws {
    let folder = try TemporaryFolder()
    let whole = try record(Scene(20), options: .test(folder))
    let path = whole.folder.path
    let target = SessionTarget(into: folder.file("Copies").path)
    let store = try StoreReader(opening: path + "/session.sqlite")
    let segments = try store.segments()
    try FileManager.default.removeItem(atPath: path + "/" + segments[0].file)
    #expect(code { try SessionSnapshot(of: path, to: target).run() } == "session.media.missing")
    let bytes = try Data(contentsOf: URL(filePath: path + "/session.sqlite"))
    try bytes.prefix(bytes.count / 2).write(to: URL(filePath: path + "/session.sqlite"))
    #expect(code { try SessionSnapshot(of: path, to: target).run() } == "store.truncated")
    #expect(!FileManager.default.fileExists(atPath: folder.file("Copies").path))
  }

  @Test func `a lost log is told from a crash, and its frames come back from the media`() throws {
    let crash = try CrashImages()
    let image = try #require(crash.images.last)
    let truth = Truth.pixels(image.path, count: image.line.frames.captured)
    try FileManager.default.removeItem(atPath: image.path + "/session.sqlite-wal")

    let doctor = try SessionCheck(path: image.path).run()
    let log = try #require(doctor.findings.first { $0.code == "session.check.log" })
    #expect(log.message.contains("session.sqlite-wal is gone"))
    #expect(log.advice?.contains("--from-media") == true && !doctor.isHealthy)

    let result = try SessionRecovery(image.path, fromMedia: true).run()
    #expect(result.frames >= image.line.frames.captured && result.rebuiltFrames > 0)
    #expect(Truth.pixels(image.path, count: truth.count) == truth)
    #expect(
      try SessionRecovery(image.path, fromMedia: true).run().sessionDigest == result.sessionDigest)
  }

  @Test func `a log that is cut names the commit before it, and one command`() throws {
    let crash = try CrashImages()
    let image = try #require(crash.images.last)
    let log = URL(filePath: image.path + "/session.sqlite-wal")
    try Data(contentsOf: log).dropLast(100).write(to: log)
    let findings = try SessionCheck(path: image.path).run().findings
    let cut = try #require(findings.first { $0.code == "session.check.log" })
    let open = try #require(findings.first { $0.code == "session.check.open" })
    #expect(cut.message.hasPrefix("the database's log is cut; the rows after commit "))
    #expect(cut.message.hasSuffix(" are lost") && cut.advice == nil)
    #expect(open.advice == "Close it: retake session recover \(image.path.shellWord)")
    withExtendedLifetime(crash) {}
  }

  @Test func `a recording that ended on an error of the database has lost nothing`() throws {
    let folder = try TemporaryFolder()
    let whole = try record(Scene(20), options: .test(folder))
    // Every commit is in the database, there is no log, and the recording was not closed.
    let store = try StoreWriter(continuing: whole.folder.path + "/session.sqlite")
    store.setMeta("closed", "0")
    try store.commit()
    try store.release()
    let doctor = try SessionCheck(path: whole.folder.path).run()
    #expect(doctor.isHealthy, "\(doctor.findings)")
    #expect(doctor.findings.filter { $0.severity != .note }.map(\.code) == ["session.check.open"])
  }

  @Test func `frames behind the last commit are found in the media, in their own time`() throws {
    let crash = try CrashImages()
    let (first, last) = (crash.images[0], crash.images[crash.images.count - 1])
    // The rows of the first commit with the media of the last: commits are missing.
    let media = "/media/video-00000.mkv"
    try FileManager.default.removeItem(atPath: first.path + media)
    try FileManager.default.copyItem(atPath: last.path + media, toPath: first.path + media)
    let truth = try StoredFrames(last.path)

    // Unpaced: there are seconds of media between two commits.
    let unpaced = try SessionCheck(path: first.path).run()
    #expect(unpaced.isHealthy, "\(unpaced.findings)")
    #expect(unpaced.findings.first { $0.code == "session.check.tail" }?.severity == .note)
    #expect(unpaced.findings.contains { $0.code == "session.check.open" })

    let store = try StoreWriter(continuing: first.path + "/session.sqlite")
    store.setMeta("pace", "realtime")
    try store.commit()
    try store.release()
    let doctor = try SessionCheck(path: first.path).run()
    let tail = try #require(doctor.findings.first { $0.code == "session.check.tail" })
    #expect(tail.severity == .error && tail.message.contains("rows are missing"))

    let result = try SessionRecovery(first.path, fromMedia: true).run()
    let found = try StoredFrames(first.path)
    #expect(found.all.count >= truth.all.count)
    #expect(found.segments.map(\.isClosed) == [true])
    #expect(result.rebuiltFrames == found.all.count - first.line.frames.captured)
    for (row, expected) in zip(found.all, truth.all) {
      #expect(row.packet == expected.packet && row.pixelHash == expected.pixelHash)
      #expect(abs(row.ptsNanoseconds - expected.ptsNanoseconds) <= 1_000_000)
      #expect(abs(row.arrivalNanoseconds - expected.arrivalNanoseconds) <= 2_000_000)
    }
    #expect(try SessionCheck(path: first.path, decodes: true).run().isHealthy)
  }
}
