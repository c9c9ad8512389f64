import ArgumentParser
import Foundation
import Retake

struct SessionTranscodeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transcode", abstract: "Make a copy of a session that replays fast.",
    discussion: """
      The original does not change. The copy has its tracks, times, damage, events, live runs and \
      notes; its frames are encoded again: as raw images, which need much space and no decoding, and \
      equal the original bit for bit, checked frame by frame. With the same name, in another folder, \
      it passes the original's goldens. Another --preset is smaller; mpeg4 and mjpeg change pixels.

      Examples:
        retake session transcode yard
        retake session transcode yard --into Fast
        retake session transcode yard --as yard-small --preset h264 --json
      """)

  @OptionGroup var session: SessionArgument
  @Option(
    name: .customLong("as"),
    help: ArgumentHelp(
      "The copy's name; if not given, the session's name plus -fast, or the same name with --into.",
      valueName: "name"))
  var name: String?
  @Option(help: "The folder that the copy's folder is made in; the session's own if not given.")
  var into: String?
  @Option(help: "raw, or a preset of record: ffv1, h264, mpeg4, mjpeg.")
  var preset = ReplayEncoding.raw.name
  @Flag(help: "Make the copy even if the session already replays as fast.")
  var force = false
  @OptionGroup var output: OutputOptions

  func run() throws {
    let encoding = try Self.encoding(preset)
    let project = try CommandEnvironment.current.project()
    let path = try session.path(in: project)
    let options = SessionTranscode.Options(
      target: target(of: path), encoding: encoding, isForced: force)
    let result = try Self.advisingAs {
      try SessionProgress.shown("transcoding", output) { report in
        try SessionTranscode(of: path, options, report: report).run()
      }
    }
    let own = [NewSession(result.path, in: project).noteOfCopy].compactMap(\.self)
    for note in result.notes + own { output.note("note: \(visible(note))") }
    if output.json {
      try Console.json(result)
      return
    }
    let damaged = result.damagedFrames > 0 ? ", \(result.damagedFrames) of them damaged" : ""
    let pixels =
      result.exact
      ? result.lacksOpacity == true
        ? "the original's decoded pixels, bit for bit, without its opacity"
        : "the original's pixels, bit for bit"
      : "other pixels than the original's"
    Console.result(
      "\(result.status.rawValue)  \(counted(result.frames, "frame"))\(damaged), \(result.codec): "
        + "\(pixels)  \(result.path)")
    Console.result(
      "  \(ByteText.of(Int(result.bytes))); the original has "
        + ByteText.of(Int(result.originalBytes)))
    // The original may have been moved meanwhile.
    guard result.measuredFrames > 0 else {
      return Console.result("  digest \(result.sessionDigest)")
    }
    let (rate, originalRate) = (Int(result.framesPerSecond), Int(result.originalFramesPerSecond))
    let measured = counted(result.measuredFrames, "frame")
    Console.result(
      "  read alone: \(rate) frames a second, the original \(originalRate) "
        + "(one thread, the first \(measured))")
    Console.result("  digest \(result.sessionDigest)")
  }

  /// Names `--as` in the advice of errors about the name of the copy, where most commands that make
  /// sessions have `--name`.
  static func advisingAs<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SessionError {
      switch error {
      case .badName, .nameTaken, .intoItself: throw error.replacingAdvice("--name", with: "--as")
      default: throw error
      }
    }
  }

  /// The encoding of a preset for copies.
  static func encoding(_ preset: String) throws -> ReplayEncoding {
    guard preset != ReplayEncoding.raw.name else { return .raw }
    do {
      guard let encoding = try RecordingPreset.named(preset).replayEncoding else {
        throw ValidationError(
          "--preset copy does not encode; to copy a session: cp -r, or retake session snapshot")
      }
      return encoding
    } catch RecordError.unknownPreset(let name, let known, _) {
      // The recorder's list has no `raw`, and its `copy` is refused above.
      let own = [ReplayEncoding.raw.name] + known.filter { $0 != RecordingPreset.copy.rawValue }
      throw RecordError.unknownPreset(
        name: name, known: own, suggestion: Suggestion.nearest(to: name, among: own))
    }
  }

  private func target(of path: String) -> SessionTarget {
    let url = URL(fileURLWithPath: path)
    let own = url.lastPathComponent
    return SessionTarget(
      into: into ?? url.deletingLastPathComponent().path,
      name: name ?? (into == nil ? own + "-fast" : own))
  }
}
