import ArgumentParser
import Foundation
import Retake

struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Record a file at its own pace, or a drawn scene, into a new session.",
    discussion: """
      What a commit reports is durable: it survives a crash. Ctrl-C ends the recording cleanly.

      Examples:
        retake record synthetic:figures --frames 300
        retake record clip.mp4 --name yard --preset ffv1
        retake record synthetic:pulse --pace unpaced --frames 900 --size 320x240
        retake record clip.mp4 --pipeline example:motion-boxes --workers 2
      """)

  @Argument(help: "synthetic:figures, synthetic:pulse, synthetic:cut, or a video file.")
  var input: String

  @Option(help: "The session's name; the input's if not given.")
  var name: String?

  @Option(help: "The folder that the session's folder is made in.")
  var into = "Recordings"

  @Option(help: "Frames after which the recording ends.")
  var frames: Int?

  @Option(help: "How long to record, such as 10s; on the source's own time line.")
  var duration: String?

  @Option(help: "How frames are encoded: mpeg4, mjpeg, ffv1 or h264 (the last two are exact).")
  var preset = RecordingPreset.mpeg4.rawValue

  @Option(help: "realtime: each frame at its own time; unpaced: as fast as it is encoded.")
  var pace: RecordingPace = .realtime

  @Option(help: "refuse, warn or skip when the encoder cannot keep up.")
  var probe: EncoderProbe.Policy = .refuse

  @Option(help: "The size of a drawn scene, such as 640x480.")
  var size = "640x480"

  @Option(help: "Frames a second of a drawn scene.")
  var fps = 30

  @Option(help: "Of a drawn scene's noise.")
  var seed = 1

  @OptionGroup var live: LivePipelineOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard Self.pixels(size) != nil else {
      throw ValidationError("'--size \(size)' is not like 640x480")
    }
    guard (frames ?? 1) > 0 else { throw ValidationError("--frames is at least 1") }
    if let duration, Duration(parsing: duration) == nil {
      throw ValidationError("'--duration \(duration)' is not like 10s or 500ms")
    }
  }

  func run() throws {
    Interruption.listen()
    var options = RecorderOptions(
      name: try name ?? defaultName, into: into, preset: try RecordingPreset.named(preset),
      pace: pace, framesMax: frames, durationMax: duration.flatMap { Duration(parsing: $0) },
      probe: probe)
    if pace == .unpaced { options.probe = .skip }
    let line = ProgressLine(isQuiet: output.quiet)
    let isJSON = output.json
    let total = frames
    let recorder = try Recorder(try source(), options: options, pipeline: try live.makePipeline()) {
      progress in
      if isJSON {
        try? Console.json(progress, isPretty: false)
      } else {
        line.update("recording", done: progress.frames.captured, total: total)
      }
    }
    Interruption.onRequest { recorder.stop() }
    defer { line.finish() }
    let result = try recorder.run()
    line.finish()
    try finish(result)
    try live.finish(result, output)
  }

  private func source() throws -> any RecordingSource {
    var picture = RecordingInput.Picture()
    (picture.width, picture.height) = Self.pixels(size) ?? (640, 480)
    picture.framesPerSecond = fps
    picture.seed = seed
    picture.frames = frames
    return try RecordingInput.source(input, picture)
  }

  private var defaultName: String {
    get throws {
      try SessionFolder.sanitised(
        name: input.hasPrefix("synthetic:")
          ? String(input.dropFirst("synthetic:".count))
          : URL(fileURLWithPath: input).deletingPathExtension().lastPathComponent)
    }
  }

  private func finish(_ result: RecordingResult) throws {
    if let probe = result.probe, probe.isTight {
      output.note(
        "warning: the encoder makes \(Int(probe.framesPerSecond)) frames a second, "
          + "\(Int(probe.needed ?? 0)) are needed: frames may be shed. Try --preset mjpeg")
    }
    if !output.json {
      let frames = result.progress.frames
      let missing = frames.missing.keys.sorted().map { "\(frames.missing[$0] ?? 0) \($0)" }
      Console.result(
        "\(result.folder.name)  \(result.status.rawValue)  \(frames.recorded) of "
          + "\(frames.captured) frames recorded"
          + (missing.isEmpty ? "" : "  without pixels: \(missing.joined(separator: ", "))")
          + "  \(result.folder.path)")
    }
    if let failure = result.failure {
      Console.error(failure)
      throw CommandEnd(status: .trouble)
    }
    if result.end == .stopped, Interruption.isRequested {
      throw CommandEnd(status: .interrupted)
    }
  }

  private static func pixels(_ text: String) -> (Int, Int)? {
    let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let width = parts[0], let height = parts[1], width > 0, height > 0
    else { return nil }
    return (width, height)
  }
}

extension RecordingPace: ExpressibleByArgument {}
extension EncoderProbe.Policy: ExpressibleByArgument {}
