import ArgumentParser
import Retake

/// The window of `retake record`.
struct WindowArguments: ParsableArguments {
  #if Window
    @Flag(
      help: ArgumentHelp(
        "Show the recording in a window, with the results of the pipeline.",
        discussion: """
          The recorder never waits for the window: frames that it cannot show are left out of it, and \
          counted. Closing it (or q) ends the recording.
          """))
    var preview = false
  #else
    var preview: Bool { false }
  #endif

  /// - Parameter warn: Called with drops that last. It must not wait: it is called on the thread that
  ///   captures.
  /// - Returns: `nil` if the user requested no window.
  /// - Throws: `PreviewError`.
  func open(
    title: String, _ pipeline: LivePipeline?, warn: @escaping @Sendable (String) -> Void
  ) throws -> (any RecordingScreen)? {
    #if Window
      return preview ? try RecordingWindow(title: title, pipeline, warn: warn) : nil
    #else
      return nil
    #endif
  }
}

/// Shows a recording. It is created and run on the main thread, while the recorder has its own
/// thread.
protocol RecordingScreen {
  var watch: RecordingWatch { get }

  /// Records, and shows the frames until the recording has ended. The process ends with it.
  ///
  /// - Parameter finish: The work after the recording.
  /// - Throws: `RuntimeError.noThread`, before anything is recorded.
  func record(
    _ recorder: Recorder, _ output: OutputOptions,
    finish: @escaping (RecordingResult, PreviewSummary) throws -> Void
  ) throws -> Never
}
