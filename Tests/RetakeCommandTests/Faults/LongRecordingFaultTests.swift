import Foundation
import Retake
import RetakeProcess
import RetakeTestSupport
import Synchronization
import Testing

/// Long recordings of frames that an app pushes, with a pipeline: no frame is lost, memory does not
/// grow, and the app never waits.
@Suite(.serialized, .oneAtATime) struct LongRecordingFaultTests {
  /// The short form is small, because other tests run at the same time.
  @Test func `a camera is recorded in real time with no frame lost`() throws {
    let (width, height, seconds) = Faults.isLong ? (1_920, 1_080, 60) : (320, 180, 2)
    let (preset, recording) = try Self.accepted { preset in
      try AppRecording(
        preset: preset, pace: .realtime, width: width, height: height, frames: 30 * seconds)
    }
    let figures = try recording.checked()
    Faults.print(
      row: "real time", "\(width)x\(height) at 30, \(preset.rawValue), a pipeline beside",
      cases: recording.frames,
      "\(figures)")
  }

  @Test func `many small frames are recorded as fast as they go with no frame lost`() throws {
    let recording = try AppRecording(
      preset: .mpeg4, pace: .unpaced, width: 320, height: 240,
      frames: Faults.isLong ? 54_000 : 1_500)
    let figures = try recording.checked()
    Faults.print(
      row: "flat out", "320x240, mpeg4, a pipeline beside", cases: recording.frames, "\(figures)")
  }

  /// The first preset that the probe accepts on this machine in its current state.
  private static func accepted(
    _ record: (RecordingPreset) throws -> AppRecording
  ) throws -> (RecordingPreset, AppRecording) {
    let presets: [RecordingPreset] = [.mpeg4, .mjpeg, .h264]
    for preset in presets.dropLast() {
      do {
        return (preset, try record(preset))
      } catch RecordError.tooSlow {
        continue
      }
    }
    return (.h264, try record(.h264))
  }
}

/// An app that pushes frames to a recorder with a pipeline, each at its time or one after another.
private struct AppRecording {
  struct Figures: CustomStringConvertible {
    var lost: Int
    var pipeline: PipelineProgress
    var pushMicroseconds: Double
    var pushMicrosecondsMax: Double
    var growthBytes: Int
    var processorShare: Double
    var framesPerSecond: Double
    var load: Double

    var description: String {
      "\(lost) lost, push p99 \(round(pushMicroseconds * 10) / 10) us (max "
        + "\(Int(pushMicrosecondsMax))), memory +\(growthBytes >> 20) MiB, "
        + "\(Int(100 * processorShare)) % of one processor, \(Int(framesPerSecond)) frames/s, "
        + "pipeline \(pipeline.accepted) of \(pipeline.produced) taken, "
        + "\(pipeline.frames.delivered) delivered, load \(load)"
    }
  }

  let frames: Int
  private let folder: TemporaryFolder
  private let result: RecordingResult
  private let refused: Int
  private let pushes: [Int64]
  private let memory: [Int]
  private let seconds: Double
  private let processorSeconds: Double

  /// The number of images, which are pushed repeatedly: drawing them would be a cost of the app.
  private static let pictures = 12

  init(
    preset: RecordingPreset, pace: RecordingPace, width: Int, height: Int, frames: Int
  ) throws {
    self.frames = frames
    folder = try TemporaryFolder("retake-long")
    let scene = try SyntheticScene(
      SyntheticOptions(
        scene: .figures, width: width, height: height, fps: 30, frames: Self.pictures, seed: 1))
    let pictures = try (0..<Self.pictures).map {
      try scene.frame(FrameID(track: 0, sequence: $0))
    }
    let source = PushSource(name: "app", framesPerSecond: 30)
    var options = RecorderOptions(
      name: "yard", into: folder.url.path, preset: preset, pace: pace,
      probe: pace == .unpaced || !Faults.isLong ? .skip : .refuse)
    options.reserveBytes = 0
    // Alongside other tests, a thread may have to wait long for its turn.
    if !Faults.isLong {
      options.waitingDurationMax = .seconds(ChildProcess.secondsMax)
      options.waitingFramesMax = frames
    }
    let memory = Mutex<[Int]>([])
    let recorder = try Recorder(source, options: options, pipeline: try Self.pipeline()) { line in
      let bytes = Self.residentBytes
      memory.withLock { $0.append(bytes) }
    }
    let ended = Mutex<Result<RecordingResult, any Error>?>(nil)
    let over = ThreadCondition()
    let start = (WallClock().monotonicNanoseconds, Self.processorNanoseconds)
    let thread = Thread {
      let result = Result { try recorder.run() }
      ended.withLock { $0 = result }
      source.finish()
      over.signal()
    }
    thread.start()
    pushes = Self.push(pictures, to: source, count: frames, waits: pace == .unpaced)
    source.finish()
    over.wait()
    let end = (WallClock().monotonicNanoseconds, Self.processorNanoseconds)
    seconds = Double(end.0 - start.0) / 1e9
    processorSeconds = Double(end.1 - start.1) / 1e9
    refused = source.refused
    self.memory = memory.withLock { $0 }
    result = try #require(ended.withLock { $0 }).get()
  }

  private static func push(
    _ pictures: [Frame], to source: PushSource, count: Int, waits: Bool
  ) -> [Int64] {
    let clock = WallClock()
    let never = ThreadCondition()
    let first = clock.monotonicNanoseconds
    let step: Int64 = 33_333_333
    var pushes: [Int64] = []
    pushes.reserveCapacity(count)
    for number in 0..<count {
      if waits {
        guard source.waitForRoom() else { break }
      } else {
        let due = first + Int64(number) * step
        while clock.monotonicNanoseconds < due { clock.wait(untilNanoseconds: due, or: never) }
      }
      var frame = pictures[number % pictures.count]
      frame.timestamp = Timestamp(nanoseconds: Int64(number) * step)
      let start = clock.monotonicNanoseconds
      source.push(frame)
      pushes.append(clock.monotonicNanoseconds - start)
    }
    return pushes
  }

  /// Checks every guarantee against the figures of the recording.
  func checked() throws -> Figures {
    let taken = result.progress.frames
    let pipeline = try #require(result.progress.pipeline)
    let sorted = pushes.sorted()
    let p99 = sorted.isEmpty ? 0 : sorted[sorted.count * 99 / 100]
    // In the first half, memory is allocated that stays: buffers, pages of the database, the images
    // themselves.
    let growth = (memory.last ?? 0) - memory[memory.count / 2]
    let figures = Figures(
      lost: frames - taken.recorded, pipeline: pipeline, pushMicroseconds: Double(p99) / 1_000,
      pushMicrosecondsMax: Double(sorted.last ?? 0) / 1_000, growthBytes: growth,
      processorShare: processorSeconds / seconds, framesPerSecond: Double(frames) / seconds,
      load: Self.load)
    #expect(result.status == .clean && result.isClosed && result.failure == nil)
    #expect(refused == 0 && taken.captured == frames && taken.recorded == frames, "\(figures)")
    #expect(pipeline.produced == frames)
    #expect(pipeline.accepted + pipeline.dropped == frames && pipeline.frames.isBalanced)
    if Faults.isLong {
      #expect(p99 <= 1_000_000, "\(figures)")
      #expect(growth < 32 << 20, "\(figures)")
    }
    let reader = try SessionReader(opening: result.folder.path)
    #expect(reader.tracks[0].frameCount == frames)
    return figures
  }

  private static func pipeline() throws -> LivePipeline {
    let example = try #require(ExamplePipelines.named("motion-boxes"))
    return LivePipeline(
      try PipelineDocument.parse(Data(example.document.utf8), catalog: StageRegistry.builtIn),
      registry: .builtIn, options: LiveOptions(workers: 2))
  }

  private static var residentBytes: Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let words = text.split(separator: " ")
    return words.count > 1 ? (Int(words[1]) ?? 0) * 4_096 : 0
  }

  private static var load: Double {
    let text = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? ""
    return text.split(separator: " ").first.flatMap { Double($0) } ?? 0
  }

  /// The time of the process: in the long form no other test runs in it.
  private static var processorNanoseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
