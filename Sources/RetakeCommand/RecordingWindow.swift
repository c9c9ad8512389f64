import Foundation
import Retake
import RetakePreview

/// A window that shows what is recorded. It is made and run on the main thread, and the recorder runs
/// on one of its own: whatever the window does, the recording goes on.
final class RecordingWindow {
  let watch: RecordingWatch
  private let feed: PreviewFeed
  private let preview: LivePreview

  /// Opens the window, before anything is recorded.
  ///
  /// - Throws: `PreviewError`.
  init(title: String, _ pipeline: LivePipeline?) throws {
    let feed = PreviewFeed()
    let places = Locked<ResultPlaces?>(nil)
    watch = RecordingWatch(
      captured: { frame in
        guard frame.id.track == 0 else { return }
        if let pipeline { Self.learn(frame, pipeline.pipeline, places) }
        feed.offer(frame)
      },
      found: { result in
        guard result.frame.result.id.track == 0, let places = places.withLock({ $0 }) else {
          return
        }
        feed.show(places.result(result.frame))
      },
      happened: { feed.note($0) })
    self.feed = feed
    preview = try LivePreview(feed, title: "\(title) - retake")
  }

  /// The first frame says where the boxes of the others lie.
  private static func learn(
    _ frame: Frame, _ pipeline: Pipeline, _ places: Locked<ResultPlaces?>
  ) {
    guard places.withLock({ $0 == nil }) else { return }
    let shape = PictureShape(width: frame.width, height: frame.height, format: frame.format)
    let tracks = ResultPlaces.liveTracks(of: pipeline)
    let known = ResultPlaces(
      pipeline, tracks: tracks,
      shapes: Dictionary(tracks.values.map { ($0, shape) }, uniquingKeysWith: { first, _ in first })
    )
    places.withLock { $0 = known }
  }

  /// Records, and shows what is recorded, until the recording has ended.
  ///
  /// - Parameter finish: What is left to do where the display goes away: the process ends with the
  ///   recording then, without returning from here.
  /// - Throws: What the recorder throws.
  func record(
    _ recorder: Recorder, _ output: OutputOptions,
    finish: @escaping (RecordingResult, WindowFigures) throws -> Void
  ) throws -> RecordingResult {
    let ended = Locked<Result<RecordingResult, any Error>?>(nil)
    let feed = feed
    let thread = try NamedThread("retake-recorder") {
      let result = Result { try recorder.run() }
      ended.withLock { $0 = result }
      feed.close()
    }
    let result = { @Sendable () throws -> RecordingResult in
      thread.join()
      guard let result = ended.withLock({ $0 }) else {
        preconditionFailure("the recorder's thread leaves its result")
      }
      return try result.get()
    }
    let rest = OnMainThread(finish)
    DisplayLoss.onLoss {
      feed.close()
      output.note("warning: the display went away, the recording goes on without a window")
      let status = try? CommandEnd.status { try rest.work(try result(), feed.figures) }
      exit((status ?? .trouble).rawValue)
    }
    do {
      let isClosed = try preview.run { ended.withLock { $0 != nil } }
      if isClosed { recorder.stop() }
    } catch {
      // What is recorded matters more than that it is seen.
      output.note("warning: the preview ended, the recording goes on: \(error)")
    }
    return try result()
  }

  /// How the preview did so far.
  var figures: WindowFigures { feed.figures }
}

/// What only the main thread calls: it draws, and so it is the one that hears of a lost display.
private struct OnMainThread: @unchecked Sendable {
  // @unchecked: made and called by the main thread alone.
  let work: (RecordingResult, WindowFigures) throws -> Void

  init(_ work: @escaping (RecordingResult, WindowFigures) throws -> Void) {
    self.work = work
  }
}
