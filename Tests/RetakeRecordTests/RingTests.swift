import Foundation
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeRecord

/// The pre-trigger ring and its memory.
@Suite struct RingTests {
  /// Frames at 10 per second, of 100 bytes each; `k` can be decoded alone, `p` depends on the
  /// previous one.
  private func ring(_ input: String, seconds: Int64, bytesMax: Int) throws -> PreTriggerRing {
    var ring = PreTriggerRing(nanoseconds: seconds * 1_000_000_000, bytesMax: bytesMax)
    let stream = MediaStream(
      video: "mjpeg", width: 64, height: 48, pixelFormatName: "yuv420p", range: .limited,
      matrix: .bt601, sampleAspect: .square, timeBase: TimeBase(1, 10))
    let epoch = StreamEpoch(number: 0, stream: stream, shape: "64x48")
    for (number, kind) in input.enumerated() {
      let packet = try MediaPacket(
        index: number, pts: Int64(number), dts: nil, flags: kind == "k" ? .key : [],
        bytes: [UInt8](repeating: 7, count: 100))
      let record = FrameRecord(
        track: 0, sequence: number, pts: Int64(number), ptsNanoseconds: Int64(number) * 100_000_000,
        arrivalNanoseconds: Int64(number) * 100_000_000, packet: nil)
      ring.add(.frame(record, EncodedFrame(epoch: epoch, packet: packet)))
    }
    return ring
  }

  private func sequences(_ ring: PreTriggerRing) -> [Int] {
    var ring = ring
    return ring.take().compactMap { row in
      if case .frame(let record, _) = row { record.sequence } else { nil }
    }
  }

  @Test func `it keeps the time that was asked for, from a frame that can be decoded alone`() throws
  {
    let kept = try ring("kppppkppppkppppkpppp", seconds: 1, bytesMax: 10_000)
    #expect(sequences(kept) == Array(5..<20) && kept.passedFrames == 5 && !kept.isShort)
  }

  @Test func `where its bytes are not enough it reaches back less far, and says so`() throws {
    let kept = try ring("kppppkppppkppppkpppp", seconds: 1, bytesMax: 700)
    #expect(sequences(kept) == Array(15..<20) && kept.isShort)
  }

  @Test func `a source without key frames does not fill the memory`() throws {
    let input = "k" + String(repeating: "p", count: 400)
    for length in stride(from: 1, through: input.count, by: 7) {
      let kept = try ring(String(input.prefix(length)), seconds: 1_000, bytesMax: 1_000)
      #expect(kept.frameCount <= 20)
      #expect(kept.isShort == (length > 20) && kept.passedFrames + kept.frameCount == length)
    }
  }

  private func options(_ folder: TemporaryFolder, ringBytes: Int) -> RecorderOptions {
    var options = RecorderOptions.test(folder, preset: .mjpeg)
    (options.pace, options.ring, options.ringBytesMax) = (.realtime, .seconds(30), ringBytes)
    return options
  }

  @Test func `a ring that cannot hold its time is refused before anything is recorded`() throws {
    let folder = try TemporaryFolder()
    var options = options(folder, ringBytes: 100_000)
    options.probe = .refuse
    let recorder = try Recorder(try Scene(60).source, options: options)
    let error = #expect(throws: RecordError.self) { _ = try recorder.run() }
    #expect(error?.code == "record.ring.tooSmall")
    #expect(error?.message.contains("a ring of 30.0 s needs about") == true)
    #expect(error?.advice?.contains("--pre-trigger-memory") == true)
    #expect(try folder.entries == [])
  }

  @Test func `a ring that becomes too small says so once`() throws {
    let folder = try TemporaryFolder()
    var options = options(folder, ringBytes: 10_000)
    (options.pace, options.probe) = (.unpaced, .skip)
    let reports = Reports()
    let found = code {
      try record(Scene(200), options: options) { reports.add($0) }
    }
    #expect(found == "record.ring.notTriggered")
    #expect(reports.all.map(\.ringIsShort) == [true])
  }

  @Test func `a ring that is killed while it is written is recovered with every whole packet`()
    throws
  {
    let folder = try TemporaryFolder()
    var options = RecorderOptions.test(folder)
    (options.ring, options.framesMax) = (.seconds(30), 150)
    let images = CrashFolders(folder)
    var machine = Recorder.Machine.still()
    machine.makeSink = { images.sink($0) }
    let holder = Mutex<Recorder?>(nil)
    let watch = RecordingWatch(captured: { frame in
      if frame.id.sequence == 120 { holder.withLock { $0 }?.trigger() }
    })
    let recorder = try Recorder(
      try Scene(150).source, options: options, machine: machine, watch: watch)
    holder.withLock { $0 = recorder }
    _ = try recorder.run()
    holder.withLock { $0 = nil }
    #expect(images.paths.count >= 5, "a commit for each second of the ring")
    for path in images.paths {
      #expect(try SessionCheck(path: path).run().isHealthy, "\(path): a crash explains it")
      let media = path + "/media/video-00000.mkv"
      let packets = try MediaDemuxer(path: media).packetCount()
      let result = try SessionRecovery(path).run()
      #expect(result.frames == packets && result.damagedFrames == 0, "\(path): \(packets)")
      #expect(try SessionCheck(path: path, decodes: true).run().isHealthy)
      #expect(try SessionRecovery(path, fromMedia: true).run().frames == packets)
      let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
      // Before the first commit there is no table to add rows to, and the empty database is kept.
      let own = names.filter { !$0.hasPrefix("session.sqlite.damaged") }
      #expect(own == ["NOTES.md", "media", "session.sqlite"])
    }
  }

  @Test func `packets that no row describes are found, although a recovery closed the session`()
    throws
  {
    let folder = try TemporaryFolder()
    let result = try record(Scene(40), options: .test(folder))
    let path = result.folder.path
    // The files that an earlier version left when a ring was killed before its first commit.
    try FileManager.default.removeItem(atPath: path + "/session.sqlite")
    _ = try StoreWriter(creating: path + "/session.sqlite", durability: .building).close()
    #expect(try SessionRecovery(path).run().frames == 0)
    #expect(try SessionRecovery(path, fromMedia: true).run().frames == 40)
    #expect(try SessionCheck(path: path, decodes: true).run().isHealthy)
  }
}

/// Copies of a session's folder, as a kill between the media and its rows leaves it.
private final class CrashFolders: Sendable {
  private let folder: TemporaryFolder
  private let made = Mutex<[String]>([])

  init(_ folder: TemporaryFolder) { self.folder = folder }

  var paths: [String] { made.withLock { $0 } }

  func sink(_ path: String) -> SinkResult {
    switch FileSink.create(path) {
    case .failed(let number): .failed(number)
    case .sink(let file): .sink(Sink(file, self))
    }
  }

  fileprivate func copy() {
    made.withLock { paths in
      let path = folder.file("crash-\(paths.count)").path
      try? FileManager.default.copyItem(atPath: folder.file("yard").path, toPath: path)
      try? FileManager.default.removeItem(atPath: path + "/recorder.lock")
      paths.append(path)
    }
  }

  private final class Sink: SegmentSink {
    private let file: any SegmentSink
    private let folders: CrashFolders

    init(_ file: any SegmentSink, _ folders: CrashFolders) {
      (self.file, self.folders) = (file, folders)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
      file.write(bytes, at: offset)
    }

    func synchronize() -> Int32 {
      defer { folders.copy() }
      return file.synchronize()
    }

    func truncate(to bytes: Int64) { file.truncate(to: bytes) }
    func close() { file.close() }
  }
}

extension MediaDemuxer {
  fileprivate func packetCount() throws -> Int {
    var count = 0
    while try nextPacket() != nil { count += 1 }
    return count
  }
}
