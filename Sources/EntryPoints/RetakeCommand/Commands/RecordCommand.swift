public import ArgumentParser
import Foundation
import Retake

struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Record a camera, a stream, a file or a drawn scene into a new session.",
    discussion: """
      Committed frames survive a crash. Ctrl-C ends the recording cleanly. If the source \
      disconnects, the recorder waits for it; the session records the gap.

      Examples:
        retake record /dev/video0 --size 1280x720 --fps 30 --segment 60s
        retake record rtsp://192.168.1.20/stream --preset archive
        retake record rtsp://192.168.1.20/stream --pre-trigger 30s    (kill -USR1 PID writes it)
        retake record /dev/video0 --pre-trigger 5s --pipeline old.json --shadow new.json
        retake record lavfi:testsrc2=size=640x480:rate=30 --frames 300
        retake record clip.mp4 --name yard --preset ffv1
        retake record /dev/video0 --note 'gate 3, rain, camera on the left post'
        retake record rig.mkv --track all --pipeline stereo.json
        retake record synthetic:pulse --speed max --frames 900 --size 320x240
        retake record clip.mp4 --pipeline example:motion-boxes --workers 2
        retake record /dev/video0 --preview --pipeline example:motion-boxes
        retake record /dev/video0 --pipeline motion.json --follow | jq -c .sinks
        retake record clip.mp4 --pipeline motion.json --metadata analytics=boxes.jsonl
        retake record clip.mp4 --pipeline motion.json --trace trace.json

      FILE may be - for standard output; messages about the recording then go to standard
      error.
      """)

  enum Speed: String, CaseIterable, ExpressibleByArgument {
    case realtime, max
  }

  @Argument(
    help: """
      A camera (/dev/video0), a stream (rtsp, rtsps, http, https, rtp or udp), lavfi:GRAPH, \
      synthetic:figures, synthetic:pulse, synthetic:cut, or a video file.
      """)
  var input: String

  @Option(help: "The session's name; the input's if not given.")
  var name: String?

  @Option(help: "The folder that the session's folder is made in.")
  var into = "Recordings"

  @Option(help: "A few words about the session, for 'session list' and 'session note'.")
  var note: String?

  @Option(
    parsing: .unconditional, help: "Frames of each track after which the recording ends.",
    transform: Bounded.any())
  var frames: Int?

  @Option(
    parsing: .unconditional, help: "How long to record, such as 10s, in the source's own time.")
  var duration: String?

  @Option(
    help: """
      How frames are encoded: mpeg4, mjpeg, ffv1 or h264 (the last two are exact); archive is \
      ffv1, fast is mpeg4. copy stores a file's or a stream's own packets as they come.
      """)
  var preset = RecordingPreset.mpeg4.rawValue

  @Option(help: "realtime: each frame at its own time; max: as fast as the encoder allows.")
  var speed = Speed.realtime

  @Option(help: "refuse, warn or skip when the encoder cannot keep up.")
  var probe: EncoderProbe.Policy = .refuse

  @Option(help: "The size of a drawn scene (640x480 if not given), or to request from a camera.")
  var size: String?

  @Option(
    parsing: .unconditional,
    help: "Frames per second of a drawn scene (30 if not given), or to request from a camera.",
    transform: Bounded.any())
  var fps: Int?

  @Option(
    parsing: .unconditionalSingleValue,
    help: """
      Which video stream of a file, by the file's own number, or 'all'; again for more. The first \
      one if not given. The session's tracks are numbered from 0, in the file's order.
      """)
  var track: [String] = []

  @Option(
    parsing: .unconditional, help: "The seed of a drawn scene's noise; 1 if not given.",
    transform: Bounded.any())
  var seed: Int?

  @Option(
    parsing: .unconditional,
    help: "Begin a new media file after this time or size, such as 60s, 10m or 500MB.")
  var segment: String?

  @Option(
    parsing: .unconditional,
    help: "Keep the newest part in memory, such as 30s; SIGUSR1 writes it and later frames.")
  var preTrigger: String?

  @Option(
    help: ArgumentHelp(
      "Memory limit of --pre-trigger, such as 200MiB; at most 1GiB if not given.",
      discussion: "If not given, also at most a quarter of the memory that is free at the start."))
  var preTriggerMemory: String?

  @Option(
    help: """
      Disk space that stays free, such as 500MB (64MiB if not given): the recording ends before \
      it is used. 0 keeps no space free.
      """)
  var minFree: String?

  @Option(
    help: "End if the source is disconnected for longer, such as 60s. Default: wait for it.")
  var reconnectTimeout: String?

  @OptionGroup var screen: WindowArguments

  @OptionGroup var live: LivePipelineOptions

  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let size, Self.pixels(size) == nil {
      throw ValidationError("'--size \(size)' is not a size; use for example 640x480")
    }
    if let segment, SegmentLimit(parsing: segment) == nil {
      throw ValidationError(
        "'--segment \(segment)' is not a time or a size; use 60s, 10m or 500MB (1s, 1MB at least)")
    }
    if let minFree, ByteCount.parse(minFree) == nil {
      throw ValidationError("'--min-free \(minFree)' is not a size; use 64MiB, 2GB or 0")
    }
    if let memory = preTriggerMemory {
      guard preTrigger != nil else {
        throw ValidationError("--pre-trigger-memory goes with --pre-trigger")
      }
      guard let bytes = ByteCount.parse(memory), bytes >= 1 << 20, bytes <= 1 << 40 else {
        throw ValidationError(
          "'--pre-trigger-memory \(memory)' is not a size; use 200MiB (1MiB at least)")
      }
    }
    for (name, text) in [("pre-trigger", preTrigger), ("reconnect-timeout", reconnectTimeout)] {
      guard let text else { continue }
      try TimeArgument.check(text, of: "--\(name)")
      if let duration = TimeArgument.parse(text), duration < .seconds(1) {
        throw ValidationError("'--\(name) \(text)' is less than a second")
      }
    }
    guard live.shadow == nil || preTrigger != nil else {
      throw ValidationError("--shadow goes with --pre-trigger, the time kept before a moment")
    }
    guard fileTracks != nil else {
      throw ValidationError("--track is a number such as 0, once or more, or 'all' alone")
    }
    for (name, value) in [("frames", frames), ("fps", fps)] {
      guard (value ?? 1) > 0 else { throw ValidationError("--\(name) is at least 1") }
    }
    try TimeArgument.check(duration, of: "--duration")
    if let duration, TimeArgument.parse(duration) == .zero {
      throw ValidationError("'--duration \(duration)' is no time to record")
    }
    guard !output.json || live.follow || live.outputs.leavesStandardOutput else {
      throw ValidationError("--json and a FILE of '-' both want standard output")
    }
  }

  func run() throws {
    Interruption.listen()
    // The recording must continue when a reader closes the output.
    Console.outliveReaders()
    var pipeline = try live.makePipeline()
    let source = try source()
    let options = try options()
    let session = "\(options.into)/\(options.name ?? "")"
    // Before anything is opened: an output over the input or over the new session would destroy it.
    try live.outputs.check(newSession: session, pipeline: live.pipelineFile, input: input)
    let report = try RecordingReport(live, of: pipeline, session: session, output)
    defer { report.discard() }
    pipeline?.options.notices = report.noticed
    var shadow = try live.makeShadow(of: pipeline)
    shadow?.watch = report.shadowWatch
    // The preview has priority over the results of the pipeline.
    if screen.preview { pipeline?.options.niceness = LiveOptions.nicenessBelowPreview }
    // Before the recorder: without a display no recording starts.
    let window = try screen.open(
      title: source.description.name, pipeline, warn: report.warn)
    let recorder = try Recorder(
      source, options: options, pipeline: pipeline, shadow: shadow,
      watch: RecordingWatch([window?.watch, report.watch].compactMap(\.self)),
      report: report.committed)
    Interruption.onRequest { recorder.stop() }
    Interruption.onRequest(report.interrupted)
    // Also without a ring: SIGUSR1 would end the process by default (man 7 signal). Here it adds an
    // event.
    Interruption.onTrigger { recorder.trigger() }
    if isEndless(source) { output.note(RecordingText.endless) }
    do {
      guard let window else { return try report.finish(try recorder.run(), preview: nil) }
      try window.record(recorder, output) { try report.finish($0, preview: $1) }
    } catch RecordError.noMoment(_, let progress) {
      try report.finish(withoutMoment: progress)
    }
  }

  private func options() throws -> RecorderOptions {
    var options = RecorderOptions(
      name: try name ?? defaultName, into: into, preset: try RecordingPreset.named(preset),
      pace: speed == .max ? .unpaced : .realtime, framesMax: frames,
      durationMax: duration.flatMap(TimeArgument.parse),
      // At full speed the source waits for the encoder, which therefore keeps up.
      probe: speed == .max ? .skip : probe)
    switch segment.flatMap(SegmentLimit.init(parsing:)) {
    case .duration(let duration): options.segmentDurationMax = duration
    case .bytes(let bytes): options.segmentBytesMax = bytes
    case nil: break
    }
    options.note = note
    options.ring = preTrigger.flatMap(TimeArgument.parse)
    options.reserveBytes = minFree.flatMap(ByteCount.parse) ?? options.reserveBytes
    options.ringBytesMax = preTriggerMemory.flatMap(ByteCount.parse).map { Int($0) }
    return options
  }

  /// Whether the recording may have no end but a request, or the loss of the source.
  private func isEndless(_ source: any RecordingSource) -> Bool {
    guard frames == nil, duration == nil else { return false }
    // Scenes are repeated, and most graphs of lavfi have no end. A file has one.
    return source.description.isLive
      || ["synthetic:", "lavfi:"].contains { input.hasPrefix($0) }
  }

  /// `nil` if the arguments are invalid.
  private var fileTracks: MediaFileSource.Tracks? {
    if track.isEmpty { return .first }
    if track == ["all"] { return .all }
    let numbers = track.compactMap { Int($0) }.filter { $0 >= 0 }
    return numbers.count == track.count ? .streams(Set(numbers)) : nil
  }

  private func source() throws -> any RecordingSource {
    let pixels = size.flatMap(Self.pixels)
    var picture = RecordingInput.Image()
    (picture.width, picture.height) = (pixels?.0, pixels?.1)
    (picture.framesPerSecond, picture.seed, picture.frames) = (fps, seed, frames)
    var live = RecordingInput.Live()
    live.patience = reconnectTimeout.flatMap(TimeArgument.parse)
    return try RecordingInput.source(
      input, picture, live: live, tracks: fileTracks ?? .first
    ) { Interruption.isRequested }
  }

  private var defaultName: String {
    get throws {
      if input.hasPrefix("synthetic:") {
        return try SessionFolder.sanitized(name: String(input.dropFirst("synthetic:".count)))
      }
      // A file or an address may have a name that is not safe for a folder. A name that was typed
      // is refused instead, not changed.
      return try SessionFolder.sanitized(
        name: try SourceAddress.sessionName(input)
          ?? URL(fileURLWithPath: input).deletingPathExtension().lastPathComponent)
    }
  }

  private static func pixels(_ text: String) -> (Int, Int)? {
    let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let width = parts[0], let height = parts[1], width > 0, height > 0
    else { return nil }
    return (width, height)
  }
}

extension EncoderProbe.Policy: ExpressibleByArgument {}
