import Foundation
import RetakeCore
import RetakeSession
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeRecord

/// An application that delivers frames as fast as the recorder accepts them, and a disk that writes
/// only after a number of further frames were delivered: it is slower on any machine.
private final class SlowDisk: RecordingSource, @unchecked Sendable {
  // @unchecked: all mutable state is guarded by `condition`.
  let description: SourceDescription
  private let scene: ReaderSource
  private let framesMax: Int
  private let framesPerWrite: Int
  private let condition = NSCondition()
  private var given = 0
  private var writable = 0
  private var hasEnded = false
  private var pushes: [Int64] = []

  init(framesMax: Int, framesPerWrite: Int) throws {
    scene = try ReaderSource(Scene(30), name: "pushed", repeats: true)
    (self.framesMax, self.framesPerWrite) = (framesMax, framesPerWrite)
    description = SourceDescription(
      name: "pushed", tracks: scene.description.tracks, isLive: true)
  }

  func open() throws -> any FrameStream { Stream(self, scene.open()) }

  /// How long the recorder blocked the application for each frame, in increasing order.
  var sortedPushes: [Int64] { condition.withLock { pushes.sorted() } }

  private final class Stream: FrameStream {
    private let disk: SlowDisk
    private let frames: any FrameStream
    private let clock = ContinuousClock()
    private var handed: ContinuousClock.Instant?

    init(_ disk: SlowDisk, _ frames: any FrameStream) {
      (self.disk, self.frames) = (disk, frames)
    }

    func next() throws -> SourceFrame? {
      let push = handed.map { clock.now - $0 }
      guard disk.give(push), let frame = try frames.next() else { return nil }
      handed = clock.now
      return frame
    }

    func close() { disk.end() }
  }

  private func give(_ push: Duration?) -> Bool {
    condition.withLock {
      if let push { pushes.append(push.nanoseconds) }
      given += 1
      condition.broadcast()
      return given <= framesMax
    }
  }

  private func end() {
    condition.withLock {
      hasEnded = true
      condition.broadcast()
    }
  }

  /// Ends: the source delivers frames without waiting, and then ends.
  fileprivate func waitForTurn() {
    condition.withLock {
      writable += framesPerWrite
      while given < writable, !hasEnded { condition.wait() }
    }
  }

  func sink(_ path: String) -> SinkResult {
    switch FileSink.create(path) {
    case .failed(let number): .failed(number)
    case .sink(let file): .sink(Sink(file, self))
    }
  }

  private final class Sink: SegmentSink {
    private let file: any SegmentSink
    private let disk: SlowDisk

    init(_ file: any SegmentSink, _ disk: SlowDisk) { (self.file, self.disk) = (file, disk) }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
      disk.waitForTurn()
      return file.write(bytes, at: offset)
    }

    func synchronize() -> Int32 { file.synchronize() }
    func truncate(to bytes: Int64) { file.truncate(to: bytes) }
    func close() { file.close() }
  }
}

@Suite struct SlowDiskTests {
  @Test func `a disk slower than the source costs frames with their cause, and nobody waits`()
    throws
  {
    let folder = try TemporaryFolder()
    let produced = 4_000
    let disk = try SlowDisk(framesMax: produced, framesPerWrite: 400)
    var options = RecorderOptions.test(folder)
    options.pace = .realtime
    options.probe = .skip
    (options.waitingFramesMax, options.waitingPacketsMax) = (8, 32)
    var machine = Recorder.Machine()
    machine.makeSink = { disk.sink($0) }
    let result = try Recorder(disk, options: options, machine: machine).run()
    #expect(result.isClosed && result.failure == nil && result.status == .lossy)
    let frames = result.progress.frames
    #expect(frames.captured == produced)
    #expect(frames.recorded + frames.missing.values.reduce(0, +) == produced)
    #expect(frames.recorded > 0)
    #expect(frames.missing[RecordCause.shedDisk, default: 0] > 0, "\(frames.missing)")
    let rows = try StoredFrames(result.folder.path)
    #expect(rows.all.map(\.sequence) == Array(0..<produced))
    #expect(rows.causes == frames.missing)
    let pushes = disk.sortedPushes
    let p99 = pushes[pushes.count * 99 / 100]
    // The run only ends because no thread waits for the disk. The duration of a call is a
    // measurement.
    if ProcessInfo.processInfo.environment["RETAKE_FAULTS"] == "long" {
      #expect(p99 <= 1_000_000, "\(p99) ns")
    }
    print(
      "faults | 9 | disk slower than the application | \(produced) produced = "
        + "\(frames.recorded) accepted + \(frames.missing.values.reduce(0, +)) dropped, each with its "
        + "cause; push p99 \(p99 / 1_000) us")
  }
}
