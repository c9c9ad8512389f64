import Foundation
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// How a session's folder gets its name, and the files that remain if it does not.
@Suite struct RecordingSiteTests {
  private let folder: TemporaryFolder
  private let target: SessionFolder

  init() throws {
    folder = try TemporaryFolder("retake-site")
    target = SessionFolder(path: folder.file("yard").path)
  }

  @Test(arguments: ["yard", "", "media"])
  func `a folder that cannot be made durable leaves its name free`(name: String) throws {
    let refused = code {
      try RecordingSite(for: target, facts: []) { path in
        // The session's folder has its final name when it and its parent are synchronized.
        let isHidden = path.contains("/.yard.")
        let isAsked =
          switch name {
          case "yard": !isHidden && path.hasSuffix("/yard")
          case "media": isHidden && path.hasSuffix("/media")
          default: !isHidden && !path.hasSuffix("/yard")
          }
        return isAsked ? ENOSPC : 0
      }
    }
    #expect(refused == "session.write")
    #expect(try folder.entries == [])
    let site = try RecordingSite(for: target, facts: [])
    #expect(site.hasDurableLog)
    #expect(try folder.entries == ["yard"])
    site.discard()
  }

  @Test func `the folder of a killed recorder is removed, and that of a starting one is not`()
    throws
  {
    try FileManager.default.createDirectory(
      atPath: folder.file(".yard.01234567/media").path, withIntermediateDirectories: true)
    let site = try RecordingSite(for: target, facts: []) { _ in
      // Another recorder, or an import, of the same name.
      (try? SessionBuilder(for: target))?.discard()
      return 0
    }
    #expect(try folder.entries.contains("yard"))
    site.discard()
    #expect(try !folder.entries.contains(".yard.01234567"))
  }

  @Test func `a session has no file but those that are documented`() throws {
    let site = try RecordingSite(for: target, facts: [])
    let names = try FileManager.default.contentsOfDirectory(atPath: target.path).sorted()
    let files = ["NOTES.md", "media", "recorder.lock", "session.sqlite"]
    #expect(names.filter { !$0.hasPrefix("session.sqlite-") } == files)
    site.discard()
  }

  /// A writer of a database that was locked when the recording began.
  private func writer(_ synchronize: @escaping (String) -> Int32) throws -> SessionWriter {
    try FileManager.default.createDirectory(
      atPath: target.media, withIntermediateDirectories: true)
    let store = try StoreWriter(creating: target.database, durability: .recording)
    let writer = SessionWriter(
      site: .init(
        folder: target, makeSink: { FileSink.create($0) }, requestKey: { _ in },
        hasDurableLog: false, synchronizeFolder: synchronize),
      store: store, limits: .init(bytesMax: 1 << 20, nanosecondsMax: 1 << 40))
    // Otherwise rows wait for the first segment.
    writer.hasSegment = true
    return writer
  }

  private var event: EventRecord {
    EventRecord(ordinal: 0, timeNanoseconds: 0, source: "app", kind: "button", json: "{}")
  }

  @Test func `after a wait for the database, the first commit makes the log's name durable`() throws
  {
    var paths: [String] = []
    let writer = try writer { path in
      paths.append(path)
      return 0
    }
    for _ in 0..<2 {
      writer.add(event)
      #expect(writer.commit(at: 0))
    }
    #expect(paths == [target.path] && writer.failure == nil)
  }

  @Test
  func `a log whose name is not durable ends the recording, and is not reported as committed`()
    throws
  {
    let writer = try writer { _ in EIO }
    writer.add(event)
    #expect(!writer.commit(at: 0))
    #expect(writer.failure?.code == "session.write")
    #expect(writer.progress.events == 0)
  }

  @Test func `frames whose rows cannot be written are counted`() throws {
    let writer = try writer { _ in EIO }
    func add(_ sequence: Int) {
      let frame = FrameRecord(
        track: 0, sequence: sequence, pts: nil, ptsNanoseconds: 0, arrivalNanoseconds: 0,
        packet: nil)
      writer.add(.frame(frame, nil))
    }
    for sequence in 0..<3 { add(sequence) }
    #expect(!writer.commit(at: 0))
    add(3)
    writer.add(.event(event))
    #expect(writer.progress.frames.captured == 0 && writer.progress.unwritten == 4)
  }

  @Test func `a packet that the muxer refuses is reported with the muxer's message`() throws {
    let writer = try writer { _ in 0 }
    let error = MediaError.muxer(format: "matroska", file: nil, cause: "Invalid argument")
    let failure = SegmentFailed(error, file: "media/video-00000.mkv").failure
    #expect(failure.word == "write failed (Invalid argument)")
    for _ in 0..<SegmentStateMachine.failuresMax { writer.fail(0, failure, at: 0) }
    #expect(writer.failure?.code == "record.disk.write")
    #expect(writer.failure?.cause == "Invalid argument")
  }

  @Test func `a lack of memory while writing is named, and an error of the system by its number`() {
    let file = "media/video-00000.mkv"
    let memory = SegmentFailed(MediaError.noMemory(step: "write a packet", file: file), file: file)
      .failure
    #expect(memory.cause == "there was no memory to write a packet")
    #expect(memory.word == "write failed (there was no memory to write a packet)")
    #expect(!memory.isDiskFull && !memory.isFileFull)
    let system = SegmentFailed(
      MediaError.write(file: file, errorNumber: EIO, cause: "x"), file: file
    ).failure
    #expect(system.word == "write failed (\(EIO))")
    #expect(system.cause == POSIXError(.EIO).systemText)
  }

  @Test(arguments: 0..<4)
  func `a packet that is not found does not hide the ones after it`(damaged: Int) throws {
    let sizes = [100, 3_000, 120, 50]
    var bytes = [UInt8](repeating: 0x11, count: 40)
    var (packets, places): ([PacketRecord], [Int64?]) = ([], [])
    for (index, size) in sizes.enumerated() {
      // Zeros occur only as the flags in front of a packet.
      let packet = (0..<size).map { UInt8(1 + ($0 + index * 7) % 120) }
      bytes += [UInt8](repeating: 0x33, count: 20) + [0]
      places.append(index == damaged ? nil : Int64(bytes.count))
      let digest = index == damaged ? Digest128.zero : Digest128(of: packet)
      packets.append(
        PacketRecord(
          track: 0, index: index, segment: 0, ordinal: index, pts: nil, dts: nil, duration: 0,
          flags: [], size: size, digest: digest))
      bytes += packet
    }
    let path = folder.file("video.mkv").path
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    #expect(PacketPlaces(path: path, from: 0).find(packets) == places)
  }
}
