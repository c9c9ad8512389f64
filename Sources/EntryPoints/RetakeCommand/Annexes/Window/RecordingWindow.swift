#if Window
  import Foundation
  import Retake
  import RetakePreview

  /// A window that shows the frames of a recording. It is created and run on the main thread, while
  /// the recorder has its own thread: whatever the window does, the recording continues.
  final class RecordingWindow: RecordingScreen {
    let watch: RecordingWatch
    private let feed: PreviewFeed
    private let preview: LivePreview

    /// Opens the window, before anything is recorded.
    ///
    /// - Parameter warn: Called with drops that last. It must not wait: it is called on the thread that
    ///   captures.
    /// - Throws: `PreviewError`.
    init(
      title: String, _ pipeline: LivePipeline?, warn: @escaping @Sendable (String) -> Void
    ) throws {
      let feed = PreviewFeed { warn("warning: \($0)") }
      let places = Locked<ResultPlaces?>(nil)
      watch = RecordingWatch(
        captured: { frame in
          // A window shows one track, the first.
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

    /// The shape of the first frame determines where the boxes of the others are drawn.
    private static func learn(
      _ frame: Frame, _ pipeline: Pipeline, _ places: Locked<ResultPlaces?>
    ) {
      guard places.withLock({ $0 == nil }) else { return }
      let shape = ImageShape(frame)
      let tracks = ResultPlaces.liveTracks(of: pipeline)
      let known = ResultPlaces(
        pipeline, tracks: tracks,
        // Several sources may read one track.
        shapes: Dictionary(
          tracks.values.map { ($0, shape) }, uniquingKeysWith: { first, _ in first })
      )
      places.withLock { $0 = known }
    }

    /// Records, and shows the frames until the recording has ended. The process ends with it: a
    /// window whose display no longer responds cannot even be closed.
    ///
    /// - Parameter finish: The work after the recording.
    /// - Throws: `RuntimeError.noThread`, before anything is recorded.
    func record(
      _ recorder: Recorder, _ output: OutputOptions,
      finish: @escaping (RecordingResult, PreviewSummary) throws -> Void
    ) throws -> Never {
      let ended = Locked<Result<RecordingResult, any Error>?>(nil)
      let feed = feed
      let rest = OneFinish { try finish($0, WindowText.summary(of: $1)) }
      let thread = try NamedThread("retake-recorder") {
        // Kept as a value: a thread has no caller to throw to, and either thread may report the
        // error.
        let result = Result { try recorder.run() }
        ended.withLock { $0 = result }
        feed.close()
        // Normally the drawing thread has claimed the rest by now. If not, it waits for its
        // display.
        guard rest.isLeft(after: Self.answerSecondsMax) else { return }
        output.note("warning: the display does not respond; the window was not closed")
        rest.finishAndExit(result, feed.figures)
      }
      let result = { @Sendable () throws -> RecordingResult in
        thread.join()
        guard let result = ended.withLock({ $0 }) else {
          preconditionFailure("the recorder's thread leaves its result")
        }
        return try result.get()
      }
      // Called on the thread that draws, which can never return to the window: it waits for the
      // recording here and ends the process.
      let endHere = { @Sendable (warning: String?) -> Never in
        rest.take()
        if let warning { output.note("warning: \(warning)") }
        rest.finishAndExit(Result { try result() }, feed.figures)
      }
      DisplayLoss.onLoss {
        feed.close()
        endHere("the connection to the display was lost, the recording continues without a window")
      }
      do {
        let isClosed = try preview.run { ended.withLock { $0 != nil } }
        // Closing the window ends the recording; the result below comes when its last commit is done.
        if isClosed { recorder.stop() }
      } catch {
        // The recording is more important than the preview.
        output.note("warning: the preview ended, the recording continues: \(error.causeText)")
      }
      endHere(nil)
    }

    /// The time limit for a window to notice that its work has ended, in seconds. If its display no
    /// longer responds, the window never notices.
    static let answerSecondsMax = 5.0
  }

  /// The work after a recording. It is done by one thread: the drawing thread, or the recorder's
  /// thread if the display blocks the drawing thread.
  private final class OneFinish: @unchecked Sendable {
    // @unchecked: only the thread that claimed the work calls it, and the other thread never
    // continues.
    private let work: (RecordingResult, WindowFigures) throws -> Void
    private let isTaken = Locked(false)
    private let taken = ThreadCondition()

    init(_ work: @escaping (RecordingResult, WindowFigures) throws -> Void) {
      self.work = work
    }

    /// For the thread that draws. It never returns if the other thread claimed the work first.
    func take() {
      if claim() { return taken.signal() }
      // Ends with the process, which the other thread ends.
      while true { pause() }
    }

    /// For the recorder's thread: whether the work was not claimed in that time. It then belongs to
    /// this thread.
    func isLeft(after seconds: Double) -> Bool {
      WallClock().wait(nanoseconds: Int64(seconds * 1e9), or: taken)
      // The other thread may claim the work right after the time limit, so the claim decides.
      return claim()
    }

    private func claim() -> Bool {
      isTaken.withLock { isTaken in
        defer { isTaken = true }
        return !isTaken
      }
    }

    /// Ends the process without its usual cleanup, which could wait for a display.
    func finishAndExit(_ result: Result<RecordingResult, any Error>, _ figures: WindowFigures)
      -> Never
    {
      RetakeCommand.end(with: { try work(try result.get(), figures) })
    }
  }
#endif
