#if Window
  import ArgumentParser
  import Foundation
  import Retake
  import RetakePreview

  struct ViewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "view",
      abstract: "Play a session in a window, with a pipeline's results drawn over it.",
      discussion: """
        With --pipeline the session is replayed first. Each frame then shows the newest result of a \
        frame at or before it, and how old that is; below are the decisions of a second on either side.

        Keys:
        \(PlayerKeys.help)

        Examples:
          retake view clip
          retake view clip --pipeline example:motion-boxes
          retake view clip --pipeline motion.json --mode simulate --start 2s --speed 0.25
          retake view clip --start 120 --once --screenshot frame.png
          retake view clip --once --screenshot - | display
          retake view clip --shader warm.glsl

        A window needs a display (DISPLAY or WAYLAND_DISPLAY) and SDL 2; without a screen, type
        xvfb-run -a retake view … A missing session, display or library is exit code 2.
        """)

    @Argument(help: "A session: its name in Recordings, or its folder.")
    var session: String

    @OptionGroup var selection: CaseOptions

    @Option(help: "Playback speed: 0.1 to 16 times real time.")
    var speed = 1.0

    @Option(help: "Where to start: a frame number, or a time from the first frame, such as 2s.")
    var start: String?

    @Option(
      parsing: .unconditional,
      help: "Close the window after this many frames, or after the last one."
    )
    var frames: Int?

    @Flag(help: "Show one frame (see --start), and exit.")
    var once = false

    @Option(
      help: """
        Write a PNG of the window with the last frame, to standard output if '-'; goes with --frames \
        or --once.
        """)
    var screenshot: String?

    @Option(help: "The window's size, such as 1280x800; fits the frame if not given.")
    var size: String?

    @Option(
      help: """
        A file with a color grading: GLSL with a function 'vec3 grade(vec3 rgb, vec2 at)'. It needs \
        OpenGL.
        """)
    var shader: String?

    @Flag(help: "Start with the results hidden; a key shows them.")
    var noOverlay = false

    @OptionGroup var programs: ProgramBan

    @OptionGroup var output: OutputOptions

    func validate() throws {
      guard (0.1...16).contains(speed) else {
        throw ValidationError("'--speed \(speed)' is not between 0.1 and 16")
      }
      guard (frames ?? 1) >= 1 else { throw ValidationError("--frames is at least 1") }
      guard !once || frames == nil else {
        throw ValidationError("--once is --frames 1: leave one of them out")
      }
      guard screenshot == nil || once || frames != nil else {
        throw ValidationError("--screenshot goes with --once or --frames")
      }
      if let screenshot { try Drawing.check(screenshot, endings: [".png"]) }
      if output.json, screenshot == "-" {
        throw ValidationError("--json and a PNG on standard output would mix; leave one out")
      }
      if let start, Int(start).map({ $0 < 0 }) ?? (TimeArgument.parse(start) == nil) {
        throw ValidationError(
          "'--start \(start)' is neither a frame's number nor a time such as 2s")
      }
      if let size, Self.pixels(size) == nil {
        throw ValidationError("'--size \(size)' is not a size from 64x64 to 8192x8192")
      }
      guard selection.pipeline != nil || isPlain else {
        throw ValidationError(
          "--mode, --costs, --seed and --override need --pipeline: only a pipeline is replayed"
        )
      }
      try selection.checkMode()
    }

    private var isPlain: Bool {
      selection.mode == nil && selection.costs == nil && selection.seed == nil
        && !selection.strictCosts && selection.overrides.texts.isEmpty
    }

    func run() throws {
      Interruption.listen()
      if screenshot == "-" {
        guard isatty(STDOUT_FILENO) == 0 else {
          throw PreviewError.notWritten(path: "standard output", cause: PreviewError.terminal)
        }
        // A reader that leaves early is an error of writing, not the end of the process.
        Console.outliveReaders()
      }
      let project = selection.allowingNamed(try programs.project())
      let path = try project.sessionPath(session)
      // Before anything is read: the image must not replace a file of the session or the pipeline.
      if let screenshot { try check(screenshot, project, session: path) }
      let reader = try SessionReader(opening: path)
      var content = try PlayerContent(reader, name: reader.folder.name, track: try shownTrack())
      mark(reader, in: &content)
      if selection.pipeline != nil { try replay(project, path, reader, into: &content) }
      // From here on this thread may wait for a display that no longer answers, and hear no request.
      Interruption.endAtTheLatest(afterSeconds: RecordingWindow.answerSecondsMax)
      let player = try SessionPlayer(content, options: try options(content))
      // Otherwise Xlib would end the process, with the exit status of a regression.
      DisplayLoss.onLoss { RetakeCommand.end { throw PreviewError.displayLost } }
      let report = try player.run { Interruption.isRequested }
      if output.json { try Console.json(report) }
      if let screenshot, let note = Self.note(screenshot, isWritten: player.hasScreenshot) {
        output.note(note)
      }
      if Interruption.isRequested { throw CommandEnd(status: .interrupted) }
    }

    /// Before the window opens: an image must not overwrite an input, and its folder must exist.
    private func check(_ screenshot: String, _ project: Project, session: String) throws {
      let definition = try selection.pipeline.map { _ in try selection.definition(in: project) }
      let pipeline = definition.map { project.pipelineFile(of: $0.pipeline) ?? $0.pipeline }
      try RunOutputs.check(
        file: screenshot, session: session, pipeline: pipeline,
        costs: (definition?.costs.files ?? []).map { project.path($0) }, shader: shader)
      if screenshot != "-" { try Screenshot.check(screenshot) }
    }

    /// The note about the file with the window's picture.
    static func note(_ screenshot: String, isWritten: Bool) -> String? {
      guard isWritten else {
        return "warning: no screenshot was written to "
          + (screenshot == "-" ? "standard output" : screenshot)
          + ": the window was closed before the last frame"
      }
      return screenshot == "-" ? nil : "the screenshot is in \(screenshot)"
    }

    /// The uncertain frames of a redacted copy. Without them, the frames can be seen all the same.
    private func mark(_ reader: SessionReader, in content: inout PlayerContent) {
      do {
        content.mark(
          uncertain: try RedactionList.uncertainFrames(
            of: reader.folder, track: content.track.track))
      } catch {
        output.note("warning: \(visible(error.facts.description))")
      }
    }

    private func shownTrack() throws -> Int? {
      let choices = selection.track.compactMap { TrackChoice($0) }
      return choices.first?.track
    }

    private func options(_ content: PlayerContent) throws -> PlayerOptions {
      var options = PlayerOptions()
      options.speed = speed
      options.framesMax = once ? 1 : frames
      options.screenshot = screenshot == "-" ? "standard output" : screenshot
      options.screenshotOutput = screenshot == "-" ? ProcessContext.current.output : nil
      options.showsResults = !noOverlay
      options.isPaused = once
      let output = output
      options.onAlarm = { output.note("warning: \($0.playerText)") }
      options.grading = try shader.map { try Grading(path: $0) }
      if let start {
        let place =
          Int(start).map { content.place(ofSequence: $0) }
          ?? TimeArgument.parse(start).flatMap { content.place(at: $0) }
        guard let place else {
          throw PreviewError.noSuchFrame(
            path: session, start: start, count: content.frameCount)
        }
        options.first = place
      }
      if let pixels = size.flatMap(Self.pixels) { (options.width, options.height) = pixels }
      return options
    }

    /// Runs the case in virtual time, and keeps its results.
    private func replay(
      _ project: Project, _ path: String, _ reader: SessionReader, into content: inout PlayerContent
    ) throws {
      let definition = try selection.definition(in: project)
      if let note = selection.note { output.note(note) }
      var job = ReplayJob(project: project, definition: definition, session: path)
      let replay = try job.makeReplay()
      // Results about the pipeline's own frames have no place on the session's frames.
      guard !replay.tracks.isEmpty else {
        throw SuiteError.overlaySession(pipeline: replay.pipeline.name)
      }
      let shapes = reader.tracks.map {
        ($0.track, ImageShape($0))
      }
      let found = FoundResults(
        ResultPlaces(
          replay.pipeline, tracks: replay.tracks,
          shapes: Dictionary(shapes, uniquingKeysWith: { first, _ in first })),
        reader, track: content.track.track)
      let line = ProgressLine(isQuiet: output.quiet)
      defer { line.finish() }
      job.observers = [found]
      job.options.isInterrupted = { Interruption.isRequested }
      job.progress = { line.update("replaying", done: $0, total: $1) }
      job.note = { output.note("note: \($0)") }
      let summary = try job.run()
      for text in summary.failureLines() { output.note("warning: \(text)") }
      // Only a warning: results from before the halt can still be seen.
      if let halt = summary.halt { output.note("warning: the run was halted: \(halt)") }
      content.add(
        results: found.results, marks: found.marks,
        originNanoseconds: try replay.originNanoseconds())
    }

    static func pixels(_ text: String) -> (Int, Int)? {
      let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
      let sides = 64...8_192
      guard parts.count == 2, let width = parts[0], let height = parts[1], sides.contains(width),
        sides.contains(height)
      else { return nil }
      return (width, height)
    }
  }

  /// Keeps the results of a run for the frames of one track, for a player.
  private final class FoundResults: RunObserver {
    private var places: ResultPlaces
    private let reader: SessionReader
    private let track: Int
    private(set) var results: [PreviewResult] = []
    private(set) var marks = DecisionMarks(nodes: [])

    var wantsDecisions: Bool { true }

    init(_ places: ResultPlaces, _ reader: SessionReader, track: Int) {
      (self.places, self.reader, self.track) = (places, reader, track)
    }

    func began(nodes: [RunNode]) { marks = DecisionMarks(nodes: nodes.map(\.id)) }

    func decided(_ line: DecisionLine) { marks.add(line) }

    func finished(_ frame: FinishedFrame) throws {
      // One track is played, and results of the others belong to other frames.
      guard frame.result.id.track == track else { return }
      places.use(ImageShape(try reader.description(of: frame.result.id)), of: track)
      let result = places.result(frame)
      if result.hasFacts { results.append(result) }
    }
  }
#endif
