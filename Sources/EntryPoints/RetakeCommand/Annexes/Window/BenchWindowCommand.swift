#if Window
  import ArgumentParser
  import Retake
  import RetakePreview

  struct BenchWindowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "window",
      abstract: "A live preview next to a slow detector, in a window, in real time.",
      discussion: """
        Once with the detector on references to the frames and once on copies. Delivery jitter is how \
        far the interval between two shown frames was from that between their time stamps.

        Examples:
          retake bench window
          retake bench window --seconds 10 --vision 200ms --size 1920x1080
          retake bench window --size 1920x1080 --full-range --apart
          xvfb-run -a retake bench window --screenshot window.png
        """)

    @Option(help: "Duration of each of the two runs.")
    var seconds = 60

    @Option(help: "Frames per second of the drawn camera.")
    var fps = 60

    @Option(help: "How long the detector computes on a frame.")
    var vision = "100ms"

    @Option(help: "The camera's size.")
    var size = "1280x720"

    @Option(help: "Write a PNG of the window at the end.")
    var screenshot: String?

    @Flag(help: "Show images at once instead of at the screen's refresh.")
    var noVsync = false

    @Flag(help: "Frames are NV12 of full range with BT.709, as phones deliver them.")
    var fullRange = false

    @Flag(help: "Wait for the device after each step, so that upload, draw and present are apart.")
    var apart = false

    @Flag(help: "Run the detector with the priority of the window.")
    var equalPriority = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
      guard (1...3_600).contains(seconds), (1...240).contains(fps) else {
        throw ValidationError("--seconds is 1 to 3600, --fps 1 to 240")
      }
      guard Duration(parsing: vision) != nil else {
        throw ValidationError("'--vision \(vision)' is not a duration; use for example 100ms")
      }
      if screenshot == "-" {
        throw ValidationError("--screenshot needs a file: standard output has the figures")
      }
      if let screenshot { try Drawing.check(screenshot, endings: [".png"]) }
      guard ViewCommand.pixels(size) != nil else {
        throw ValidationError("'--size \(size)' is not a size from 64x64 to 8192x8192")
      }
    }

    func run() throws {
      Interruption.listen()
      if let screenshot {
        // Before the two runs, whose figures an error at the end would lose.
        try RunOutputs.check(file: screenshot, pipeline: nil)
        try Screenshot.check(screenshot)
      }
      var trial = WindowTrial()
      (trial.seconds, trial.framesPerSecond) = (seconds, fps)
      if let vision = Duration(parsing: vision) { trial.vision = vision }
      if let pixels = ViewCommand.pixels(size) { (trial.width, trial.height) = pixels }
      (trial.isFullRange, trial.waitsForDevice) = (fullRange, apart)
      trial.isVisionEqual = equalPriority
      (trial.screenshot, trial.waitsForScreen) = (screenshot, !noVsync)
      var reports: [WindowTrial.Report] = []
      for copies in [false, true] where !Interruption.isRequested {
        trial.copies = copies
        let report = try trial.run { Interruption.isRequested }
        reports.append(report)
        // At once, because the other run is just as slow. JSON is one document.
        if !output.json { Console.result(Self.text(report)) }
      }
      if output.json { try Console.json(reports) }
      if Interruption.isRequested { throw CommandEnd(status: .interrupted) }
    }

    /// `20 s`, or `1.9 of 20 s` if the run was ended before.
    static func length(seconds: Int, endedAfter nanoseconds: Int64?) -> String {
      guard let nanoseconds else { return "\(seconds) s" }
      let tenths = Int((nanoseconds + 50_000_000) / 100_000_000)
      return "\(FixedPoint.text(tenths, digits: 1)) of \(seconds) s"
    }

    private static func text(_ report: WindowTrial.Report) -> String {
      let length = Self.length(
        seconds: report.seconds, endedAfter: report.endedAfterNanoseconds)
      return
        "detector by \(report.copies ? "copy" : "reference")  \(report.width)x\(report.height) at "
        + "\(report.framesPerSecond) a second for \(length), "
        + "\(report.visionNanoseconds / 1_000_000) ms a frame: \(report.visionDelivered) done, "
        + "\(report.visionReplaced) replaced\n"
        + WindowText.of(report.preview, renderer: report.renderer)
        + (report.cameraLate.map { "\n" + WindowText.line("the camera's own delay", $0) } ?? "")
    }
  }
#endif
