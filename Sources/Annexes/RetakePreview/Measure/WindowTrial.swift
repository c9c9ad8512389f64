import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeMedia
import RetakeRuntime
import RetakeStages

/// A simulated camera, a window and a slow detector: measures how a preview performs on this
/// machine. It runs in real time, on the main thread.
package struct WindowTrial: Sendable {
  package var seconds = 60
  package var framesPerSecond = 60
  package var width = 1_280
  package var height = 720
  /// How long the detector computes on each frame that it accepts.
  package var vision = Duration.milliseconds(100)
  /// Whether the detector gets its own copy, made in the camera's callback, or a reference.
  package var copies = false
  /// Whether each image waits for the screen's refresh.
  package var waitsForScreen = true
  /// Whether the steps of an image are measured apart; see `Canvas.Window.waitsForDevice`.
  package var waitsForDevice = false
  /// Whether the camera's frames are NV12 of full range with BT.709, as phones deliver them, and
  /// not I420 of limited range with BT.601.
  package var isFullRange = false
  /// Whether the detector's threads have the same priority as the window's.
  package var isVisionEqual = false
  /// The path for a PNG of the window at the end.
  package var screenshot: String?

  package init() {}

  /// The results of a trial.
  package struct Report: Sendable, Codable {
    package var framesPerSecond: Int
    package var seconds: Int
    /// How long the camera filmed, if it was interrupted or the window was closed before the end.
    package var endedAfterNanoseconds: Int64?
    package var width: Int
    package var height: Int
    package var visionNanoseconds: Int64
    package var copies: Bool
    package var isFullRange: Bool
    /// See `LiveOptions.niceness`.
    package var visionNiceness: Int
    package var renderer: WindowRenderer
    package var preview: WindowFigures
    /// Frames that the detector finished.
    package var visionDelivered: Int
    /// Frames that were replaced by a newer one while the detector was busy.
    package var visionReplaced: Int
    /// How late the camera's thread offered its frames, from each frame's due time to its offer.
    package var cameraLate: WindowFigures.Spread?
  }

  /// The number of different images, which are shown in a loop, so that painting them is not part
  /// of the measurement.
  private static let pictures = 60

  /// - Throws: `PreviewError`, `RuntimeError`, `PipelineError`, `OptionError`.
  package func run(isInterrupted: @escaping @Sendable () -> Bool = { false }) throws -> Report {
    let frames = try paint()
    let feed = PreviewFeed()
    let preview = try LivePreview(
      feed, title: "retake: a detector of \(vision.nanoseconds / 1_000_000) ms next to a preview",
      waitsForScreen: waitsForScreen, waitsForDevice: waitsForDevice)
    let session = try detector(feed)
    let late = Locked(FigureSamples())
    let isDone = Locked(false)
    let endedAfter = Locked<Int64?>(nil)
    let camera = try NamedThread("retake-camera") {
      let early = film(frames, feed, session, late, isInterrupted)
      endedAfter.withLock { $0 = early }
      isDone.withLock { $0 = true }
    }
    _ = try preview.run { isDone.withLock { $0 } || isInterrupted() }
    camera.join()
    let outcome = try session.finish()
    if let screenshot { try preview.screenshot(to: screenshot) }
    return Report(
      framesPerSecond: framesPerSecond, seconds: seconds,
      endedAfterNanoseconds: endedAfter.withLock { $0 }, width: width, height: height,
      visionNanoseconds: vision.nanoseconds, copies: copies, isFullRange: isFullRange,
      visionNiceness: visionNiceness,
      renderer: preview.renderer,
      preview: feed.figures, visionDelivered: outcome.headline.delivered,
      visionReplaced: outcome.headline.replaced, cameraLate: late.withLock { $0.spread })
  }

  private func paint() throws -> [Frame] {
    let scene = try SyntheticScene(
      SyntheticOptions(
        scene: .figures, width: width, height: height, fps: framesPerSecond,
        frames: Self.pictures))
    let scaler = MediaScaler()
    return try (0..<Self.pictures).map {
      var frame = try scene.frame(FrameID(track: 0, sequence: $0))
      guard isFullRange else { return frame }
      frame = try scaler.scale(frame, format: .nv12)
      // The levels stay, so that these are other colors; the work is the same.
      (frame.range, frame.matrix) = (.full, .bt709)
      return frame
    }
  }

  private var visionNiceness: Int { isVisionEqual ? 0 : LiveOptions.nicenessBelowPreview }

  private var format: PixelFormat { isFullRange ? .nv12 : .i420 }

  /// The camera's callback, at its own rate.
  ///
  /// - Returns: How long it took, if it ended early; otherwise `nil`.
  private func film(
    _ frames: [Frame], _ feed: PreviewFeed, _ session: LiveSession, _ late: Locked<FigureSamples>,
    _ isInterrupted: @Sendable () -> Bool
  ) -> Int64? {
    let clock = WallClock()
    let condition = ThreadCondition()
    let start = clock.monotonicNanoseconds
    for number in 0..<seconds * framesPerSecond {
      let offset = Int64(number) * 1_000_000_000 / Int64(framesPerSecond)
      // Ends: at the due time.
      while clock.monotonicNanoseconds < start + offset {
        clock.wait(untilNanoseconds: start + offset, or: condition)
      }
      if isInterrupted() || feed.isClosed { return clock.monotonicNanoseconds - start }
      late.withLock { $0.add(clock.monotonicNanoseconds - start - offset) }
      var frame = frames[number % frames.count]
      frame.id = FrameID(track: 0, sequence: number)
      frame.timestamp = Timestamp(nanoseconds: offset)
      // Before the detector, because its copy needs time in the camera's callback.
      feed.offer(frame)
      session.push(copies ? frame.copied() : frame)
    }
    return nil
  }

  private func detector(_ feed: PreviewFeed) throws -> LiveSession {
    let nanoseconds = vision.nanoseconds
    let pipeline = Pipeline.named("slow").source(.session())
      .map("detector") { (frame: Frame, _) in SlowDetector.find(frame, nanoseconds: nanoseconds) }
      .queue(capacity: 1, policy: .replace).results("found")
    let tracks = [LiveTrack(format: format, width: width, height: height)]
    let places = ResultPlaces(pipeline, tracks: tracks)
    var options = LiveOptions(workers: 1)
    options.niceness = visionNiceness
    return try LiveSession(
      pipeline, tracks: tracks,
      catalog: StageRegistry.core, options: options,
      tap: ResultTap(places, feed))
  }
}

/// Passes a live run's results to a feed.
private final class ResultTap: LiveTap {
  private let places: ResultPlaces
  private let feed: PreviewFeed

  init(_ places: ResultPlaces, _ feed: PreviewFeed) {
    (self.places, self.feed) = (places, feed)
  }

  func began(_ facts: LiveFacts) {}
  func told(_ batch: LiveBatch) {}
  func finished(_ result: LiveResult) { feed.show(places.result(result)) }
  func ended(_ outcome: RunOutcome) {}
}

/// Reads a frame's pixels repeatedly until its time is over.
private enum SlowDetector {
  private static let cell = 32

  static func find(_ frame: Frame, nanoseconds: Int64) -> Detections {
    let clock = WallClock()
    let end = clock.monotonicNanoseconds + nanoseconds
    var best = (level: -1, x: 0, y: 0)
    // Ends: the time is over.
    repeat { best = brightest(frame) } while clock.monotonicNanoseconds < end
    let box = Box(
      x: Double(best.x * cell), y: Double(best.y * cell), width: Double(cell * 2),
      height: Double(cell * 2))
    return Detections(
      [Detection(box: box, score: Double(best.level) / 255)], classNames: ["brightest"])
  }

  /// The square of `cell` pixels with the highest mean.
  private static func brightest(_ frame: Frame) -> (level: Int, x: Int, y: Int) {
    var sums = [Int](repeating: 0, count: (frame.width / cell) * (frame.height / cell))
    let columns = frame.width / cell
    var row = 0
    frame.forEachRow(of: 0) { bytes in
      let line = row / cell
      row += 1
      guard line < frame.height / cell else { return }
      for column in 0..<columns {
        var sum = 0
        for byte in bytes[column * cell..<(column + 1) * cell] { sum += Int(byte) }
        sums[line * columns + column] += sum
      }
    }
    let place = sums.indices.max { sums[$0] < sums[$1] } ?? 0
    return (
      (sums.isEmpty ? 0 : sums[place]) / (cell * cell), place % max(1, columns),
      place / max(1, columns)
    )
  }
}

extension Frame {
  /// A copy with its own memory.
  fileprivate func copied() -> Frame {
    var copy = Frame(
      id: id, timestamp: timestamp, format: format, width: width, height: height, range: range,
      planes: (0..<format.planeCount).map { bytes(of: $0) })
    (copy.matrix, copy.rotationDegrees, copy.sampleAspect) = (matrix, rotationDegrees, sampleAspect)
    copy.isMirrored = isMirrored
    return copy
  }
}
