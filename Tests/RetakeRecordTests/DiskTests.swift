import Foundation
import RetakeCore
import RetakeSession
import RetakeStore
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeRecord

/// Files on a disk that fails on request.
final class FailingDisk: Sendable {
  struct Plan: Sendable {
    var call: Call
    /// Counts the calls of this kind over all files, from 1.
    var number: Int
    var errorNumber: Int32
  }

  enum Call: String, Sendable { case open, write, synchronize }

  private let plans: [Plan]
  private let state = Mutex<[String: Int]>([:])

  init(_ plans: [Plan]) {
    self.plans = plans
  }

  func count(_ call: Call) -> Int { state.withLock { $0[call.rawValue, default: 0] } }

  fileprivate func next(_ call: Call) -> Int32 {
    let number = state.withLock {
      $0[call.rawValue, default: 0] += 1
      return $0[call.rawValue, default: 0]
    }
    return plans.first { $0.call == call && $0.number == number }?.errorNumber ?? 0
  }

  func sink(_ path: String) -> SinkResult {
    let failure = next(.open)
    guard failure == 0 else { return .failed(failure) }
    switch FileSink.create(path) {
    case .failed(let number): return .failed(number)
    case .sink(let sink): return .sink(Sink(sink, disk: self))
    }
  }

  /// After a failure the file must not be used again.
  final class Sink: SegmentSink {
    private let file: any SegmentSink
    private let disk: FailingDisk
    let callsAfterFailure = Atomic(0)
    private let hasFailed = Atomic(false)

    init(_ file: any SegmentSink, disk: FailingDisk) {
      (self.file, self.disk) = (file, disk)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
      fail(disk.next(.write)) ?? file.write(bytes, at: offset)
    }

    func synchronize() -> Int32 { fail(disk.next(.synchronize)) ?? file.synchronize() }

    func truncate(to bytes: Int64) { file.truncate(to: bytes) }

    func close() { file.close() }

    private func fail(_ number: Int32) -> Int32? {
      if hasFailed.load(ordering: .relaxed) {
        Issue.record("a file that failed is used again")
      }
      guard number != 0 else { return nil }
      hasFailed.store(true, ordering: .relaxed)
      return number
    }
  }
}

@Suite struct DiskTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func machine(_ disk: FailingDisk) -> Recorder.Machine {
    var machine = Recorder.Machine.ticking()
    machine.makeSink = { disk.sink($0) }
    return machine
  }

  private func record(_ disk: FailingDisk, _ reports: Reports = Reports()) throws -> RecordingResult
  {
    try RetakeRecordTests.record(
      Scene(90), options: .test(folder), machine: machine(disk), report: reports.add)
  }

  /// Every frame has its row. Frames with pixels decode, the others have a cause.
  private func check(_ result: RecordingResult) throws -> StoredFrames {
    let rows = try StoredFrames(result.folder.path)
    let reader = try SessionReader(
      opening: result.folder.path, options: ReadOptions(verifiesPixels: true))
    for row in rows.all {
      #expect((row.packet == nil) == (row.cause != nil))
      guard row.packet != nil else { continue }
      #expect(try reader.frame(FrameID(track: 0, sequence: row.sequence)).width == 64)
    }
    let recorded = result.progress.frames.recorded
    let missing = result.progress.frames.missing.values.reduce(0, +)
    #expect(recorded + missing == result.progress.frames.captured)
    #expect(rows.causes == result.progress.frames.missing)
    return rows
  }

  @Test(arguments: [FailingDisk.Call.write, .synchronize], 3...6)
  func `a write or sync that fails loses one batch and begins a new segment`(
    call: FailingDisk.Call, number: Int
  ) throws {
    let disk = FailingDisk([.init(call: call, number: number, errorNumber: EIO)])
    let reports = Reports()
    let result = try record(disk, reports)
    let rows = try check(result)
    #expect(result.status == .lossy && result.end == .sourceEnded && result.failure == nil)
    #expect(rows.all.map(\.sequence) == Array(0..<90))
    #expect(rows.events.map(\.kind) == ["segment.abandoned"])
    let lost = rows.all.filter { $0.cause == RecordCause.lostWrite }.map(\.sequence)
    #expect((1...30).contains(lost.count), "one batch, not \(lost.count) frames")
    #expect(rows.segments.map(\.isClosed) == [false, true])
    #expect(rows.segments.last?.reason == "\(call.rawValue) failed (\(EIO))")
    for line in reports.all {
      #expect(line.frames.captured == line.lastSequence + 1, "acknowledged frames stay")
    }
  }

  @Test(arguments: [FailingDisk.Call.write, .synchronize], 1...12)
  func `a segment that fails where the next one begins takes no later frame with it`(
    call: FailingDisk.Call, number: Int
  ) throws {
    let disk = FailingDisk([.init(call: call, number: number, errorNumber: EIO)])
    var options = RecorderOptions.test(folder)
    options.segmentDurationMax = .seconds(1)
    let result = try RetakeRecordTests.record(Scene(90), options: options, machine: machine(disk))
    let rows = try check(result)
    #expect(result.end == .sourceEnded && result.failure == nil)
    #expect(rows.events.map(\.kind) == (disk.count(call) < number ? [] : ["segment.abandoned"]))
    let missing = rows.all.filter { $0.packet == nil }.map(\.sequence)
    let first = missing.first ?? 0
    #expect(missing == Array(first..<first + missing.count), "one gap")
  }

  @Test func `nothing that was acknowledged is lost by a failing sync`() throws {
    let disk = FailingDisk(
      [3, 6, 9].map { .init(call: .synchronize, number: $0, errorNumber: EIO) })
    let reports = Reports()
    let result = try record(disk, reports)
    _ = try check(result)
    let reader = try SessionReader(opening: result.folder.path)
    for line in reports.all {
      #expect(try packetDigest(of: reader, through: line.lastSequence) == line.packetDigest)
    }
  }

  @Test(arguments: [(FailingDisk.Call.write, 4), (.synchronize, 3)])
  func `a full disk ends the recording, and what was committed stays`(
    call: FailingDisk.Call, number: Int
  ) throws {
    let disk = FailingDisk([.init(call: call, number: number, errorNumber: ENOSPC)])
    let result = try record(disk)
    let rows = try check(result)
    #expect(result.end == .failed && result.isClosed)
    #expect(result.failure?.code == "record.disk.write")
    #expect(rows.all.contains { $0.packet != nil })
    #expect(disk.count(.open) == 1, "no other segment is tried")
    let segment = try #require(rows.segments.first)
    let file = try Data(contentsOf: URL(filePath: result.folder.path + "/" + segment.file))
    #expect(file.count == Int(segment.bytes), "what is not committed gives its room back")
  }

  @Test(arguments: [ENOSPC, EIO])
  func `a disk that takes no frame leaves no session, and nothing is said to be there`(
    errorNumber: Int32
  ) throws {
    let disk = FailingDisk(
      (1...9).map { .init(call: .synchronize, number: $0, errorNumber: errorNumber) })
    let reports = Reports()
    #expect(code { try record(disk, reports) } == "record.disk.write")
    #expect(try folder.entries == [])
    #expect(reports.all.isEmpty, "rows wait for the track that they belong to")
  }

  @Test func `rows that waited for the first segment come with it`() throws {
    let disk = FailingDisk([.init(call: .synchronize, number: 1, errorNumber: EIO)])
    let reports = Reports()
    let result = try record(disk, reports)
    let rows = try check(result)
    #expect(rows.all.map(\.sequence) == Array(0..<90))
    #expect(rows.all.first?.cause == RecordCause.lostWrite)
    for line in reports.all { #expect(line.frames.recorded > 0) }
  }

  @Test func `a disk that keeps failing ends the recording`() throws {
    let disk = FailingDisk(
      (2...9).map { .init(call: .open, number: $0, errorNumber: EIO) }
        + [.init(call: .synchronize, number: 2, errorNumber: EIO)])
    let result = try record(disk)
    _ = try check(result)
    #expect(result.end == .failed)
    #expect(result.failure?.code == "record.disk.write")
    #expect(disk.count(.open) == 3)
  }

  @Test(arguments: [false, true])
  func `a media file that was removed or replaced is lost, and is named`(isReplaced: Bool) throws {
    let media = RecorderOptions.test(folder).into + "/yard/media"
    let done = Mutex(false)
    let result = try RetakeRecordTests.record(
      Scene(90), options: .test(folder), machine: .ticking()
    ) { _ in
      guard
        !done.withLock({ done in
          defer { done = true }; return done
        })
      else { return }
      for name in (try? FileManager.default.contentsOfDirectory(atPath: media)) ?? [] {
        try? FileManager.default.removeItem(atPath: media + "/" + name)
        if isReplaced { try? Data("other".utf8).write(to: URL(filePath: media + "/" + name)) }
      }
    }
    #expect(result.end == .failed && result.failure?.code == "record.media.changed")
    #expect(result.failure?.cause?.hasSuffix("media/video-00000.mkv") == true)
    #expect(result.failure?.advice?.hasSuffix("check " + result.folder.path.shellWord) == true)
    #expect(result.isClosed && result.status == .lossy)
    #expect(try SessionReader(opening: result.folder.path).status() == .lossy)
  }

  @Test(arguments: [false, true])
  func `a session's folder that was moved or removed is said to be that`(isRemoved: Bool) throws {
    let path = RecorderOptions.test(folder).into + "/yard"
    let result = try RetakeRecordTests.record(
      Scene(90), options: .test(folder), machine: .ticking()
    ) { _ in
      if isRemoved {
        try? FileManager.default.removeItem(atPath: path)
      } else if FileManager.default.fileExists(atPath: path) {
        try? FileManager.default.moveItem(atPath: path, toPath: path + "-moved")
      }
    }
    #expect(result.failure?.code == "record.session.moved" && !result.isClosed)
    #expect(result.status == .unclosed && !FileManager.default.fileExists(atPath: path))
    guard !isRemoved else { return }
    let recovered = try SessionRecovery(path + "-moved").run()
    #expect(recovered.wasOpen && recovered.frames > 0)
  }

  @Test func `a database without room names the command that closes the session`() {
    let folder = SessionFolder(path: "/media/my yard")
    let error = StoreError.diskFull(path: folder.database).leavingOpen(folder)
    #expect(
      error.advice == "Free some space on the disk, then close the session: "
        + "retake session recover '/media/my yard'")
    let busy = StoreError.busy(path: folder.database, holder: nil)
    #expect(busy.leavingOpen(folder).advice == busy.advice)
    let write = RecordError.writeFailed(
      file: folder.path + "/media/video-00000.mkv", step: "write", cause: "No space left")
    #expect(write.message == "the media could not be written")
    #expect(write.advice?.hasSuffix("retake session check '/media/my yard'") == true)
    let reserve = RecordError.diskReserve(
      path: "/", freeBytes: 5_998_592, reserveBytes: 6_000_000)
    #expect(reserve.message.hasPrefix("the disk has 5998592 bytes left, less than the 6.0 MB"))
  }

  @Test func `a place where no folder can be made is said in words`() throws {
    try folder.write("a file", to: "taken")
    var options = RecorderOptions.test(folder)
    options.into = folder.file("taken").path
    let thrown = #expect(throws: (any Error).self) {
      try RetakeRecordTests.record(Scene(9), options: options)
    }
    let error = thrown?.facts
    #expect(error?.message.contains("--into names a file") == true)
    #expect(error?.place?.file?.hasPrefix(options.into) == true)
    #expect(error?.advice != nil)
    #expect(error.map { "\($0)".contains("NSError") || "\($0)".contains("Domain=") } == false)
  }

  @Test func `the recording ends before the disk's reserve is touched`() throws {
    let free = Mutex<Int64>(10 << 20)
    var machine = Recorder.Machine.ticking()
    machine.freeBytes = { _ in
      free.withLock {
        $0 -= 1 << 20
        return $0
      }
    }
    var options = RecorderOptions.test(folder)
    options.reserveBytes = 5 << 20
    let source = try ReaderSource(Scene(30), name: "endless", repeats: true)
    let result = try Recorder(source, options: options, machine: machine).run()
    #expect(result.failure?.code == "record.disk.reserve")
    #expect(result.isClosed)
    let rows = try check(result)
    #expect(Set(rows.causes.keys).isSubset(of: [RecordCause.shedReserve]), "what still waited")
    #expect(rows.all.contains { $0.packet != nil })
    options.name = "later"
    #expect(
      code { try RetakeRecordTests.record(Scene(9), options: options, machine: machine) }
        == "record.disk.reserve")
    #expect(try folder.entries == ["yard"])
  }
}

extension TemporaryFolder {
  /// Sorted names, hidden names included.
  var entries: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
  }
}
