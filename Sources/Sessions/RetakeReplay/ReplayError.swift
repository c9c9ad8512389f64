public import RetakeCore

/// Errors that prevent a replay from starting, or its files from being written.
public enum ReplayError: RetakeError, Hashable {
  /// A file that a command writes.
  public enum Output: String, Hashable, Sendable {
    case decisions
    case drawing
    case image
    case metadata
    case overlay
    case results
    case timings
    case trace
  }

  /// The paths in errors about standard streams.
  package static let standardOutput = "standard output"
  package static let standardError = "standard error"

  /// The case names a track for a node that is not a session source.
  case unknownSource(node: String, sources: [String])
  /// The case sets steps for a node that is not a sink.
  case unknownSink(node: String, sinks: [String])
  /// The results node declares a precision that cannot be used.
  case badPrecision(node: String, detail: String)
  /// An override cannot be read, or cannot be applied to this pipeline.
  case badOverride(String, detail: String, advice: String?)
  case noSession(node: String)
  /// A stage reads a sensor that the session does not have.
  case noSensor(node: String, sensor: String, known: [String])
  /// A stage reads a sensor, and the frames of a source do not come from the session.
  case sensorsElsewhere(node: String, source: String)
  /// A live run was recorded without its pipeline, which has closures.
  case noPipeline(session: String, run: Int)
  /// Result lines are requested for a sink that does not exist.
  case noSuchSink(node: String, sinks: [String])
  /// The costs should come from a session, but the run has no session.
  case noSessionCosts
  case unwritable(Output, path: String, cause: String)
  /// The run ended because its output is no longer read.
  case readerGone(Output)
  /// A sweep that cannot be parsed, or that does not fit this pipeline.
  case badSweep(String, advice: String)
  case timings(TimingsFault, path: String)
  case profile(ProfileFault, path: String)

  package var facts: ErrorFacts {
    switch self {
    case .unknownSource(let node, let known):
      ErrorFacts(
        "replay.case.unknownSource",
        "a track is chosen for '\(node)', which is not a session source",
        advice: Suggestion.advice(for: node, among: known))
    case .unknownSink(let node, let known):
      ErrorFacts(
        "replay.case.unknownSink", "steps are given for '\(node)', which is not a sink",
        advice: Suggestion.advice(for: node, among: known))
    case .badPrecision(let node, let detail):
      ErrorFacts(
        "replay.case.badPrecision", "the precision of '\(node)' cannot be used: \(detail)",
        advice: "Use powers of ten: {\"box\": 0.1, \"score\": 0.0001, \"scalar\": 0.001}")
    case .badOverride(let text, let detail, let advice):
      ErrorFacts(
        "replay.case.badOverride", "the override '\(text)' cannot be used: \(detail)",
        advice: advice)
    case .noSession(let node):
      ErrorFacts(
        "replay.case.noSession", "the source '\(node)' reads a session, but no session was named",
        advice: "Name one: retake replay SESSION --pipeline P")
    case .noSensor(let node, let sensor, let known):
      ErrorFacts(
        "replay.sensor.unknown",
        "the stage '\(node)' reads the sensor '\(sensor)', which the session does not have",
        advice: known.isEmpty
          ? "Import it with the frames: retake import FILE --sensor imu.csv:name=\(sensor)"
          : Suggestion.advice(for: sensor, among: known))
    case .sensorsElsewhere(let node, let source):
      ErrorFacts(
        "replay.sensor.source",
        "the stage '\(node)' reads a sensor of the session, and the frames of '\(source)' are not "
          + "from the session",
        advice: "Read all frames from the session: {\"kind\": \"session\"}")
    case .noPipeline(let session, let run):
      ErrorFacts(
        "replay.reproduce.noPipeline", "the run \(run) was recorded without a pipeline document",
        advice: "Name it: retake replay \(session.shellWord) --mode reproduce --pipeline P")
    case .noSuchSink(let node, let known):
      ErrorFacts(
        "replay.results.noSuchSink", "the pipeline has no sink '\(node)'",
        advice: Suggestion.advice(for: node, among: known))
    case .noSessionCosts:
      ErrorFacts(
        "replay.costs.noSession", "the costs come from a session, but no session was named",
        advice: "Name one: retake replay SESSION --pipeline P --costs timings; "
          + "or a file: --costs timings:FILE")
    case .unwritable(let output, let path, let cause):
      ErrorFacts(
        "replay.\(output.rawValue).unwritable", "\(output.words) cannot be written", cause: cause,
        at: path,
        advice: path == Self.standardOutput
          ? "Send standard output to a file on a disk with free space, or to another program"
          : "Choose a file in a folder that exists, can be written and has free space")
    case .readerGone(let output):
      ErrorFacts(
        "replay.\(output.rawValue).readerGone", "no one reads \(output.words) any more")
    case .badSweep(let detail, let advice):
      ErrorFacts("replay.sweep.bad", detail, advice: advice)
    case .timings(let fault, let path): fault.facts(path)
    case .profile(let fault, let path): fault.facts(path)
    }
  }

  /// Stable and dotted, with the module first: `"replay.results.noSuchSink"`.
  public var code: String { facts.code }
  /// A sentence in the user's terms, without the place and the advice.
  public var message: String { facts.message }
  /// The message of the layer below; `nil` if the error has no deeper cause.
  public var cause: String? { facts.cause }
  /// The file, frame or part of a document with the error; `nil` if the error has no place.
  public var place: Place? { facts.place }
  /// The next step, with an exact command if there is one; `nil` without advice.
  public var advice: String? { facts.advice }
}

extension ReplayError {
  /// The error in a message about work that continues: its place, message and cause.
  package var lossText: String {
    (place.map { "\($0): " } ?? "") + message + (cause.map { " (\($0))" } ?? "")
  }
}

extension ReplayError.Output {
  fileprivate var words: String {
    switch self {
    case .decisions: "the decisions"
    case .drawing: "the drawing"
    case .image: "the image"
    case .metadata: "the metadata"
    case .overlay: "the video with the overlay"
    case .results: "the results"
    case .timings: "the recorded timings"
    case .trace: "the trace"
    }
  }
}

/// A problem with the file of recorded timings.
public enum TimingsFault: Hashable, Sendable {
  case unreadable(cause: String)
  case notTimings
  case newer(version: Int)
  /// The file ends before its end line.
  case cut(spans: Int)
  /// A line was changed after it was written.
  case damaged(line: Int, detail: String)

  fileprivate func facts(_ path: String) -> ErrorFacts {
    let write = "Write one with: retake replay SESSION --pipeline P --write-timings FILE"
    return switch self {
    case .unreadable(let cause):
      ErrorFacts(
        "replay.timings.unreadable", "the timings cannot be read", cause: cause, at: path,
        advice: write)
    case .notTimings:
      ErrorFacts(
        "replay.timings.notTimings", "these are not recorded timings", at: path, advice: write)
    case .newer(let version):
      ErrorFacts(
        "replay.timings.newerVersion",
        "the timings have version \(version); this Retake reads version 1", at: path,
        advice: "Update Retake, or write the timings again with this one")
    case .cut(let spans):
      ErrorFacts(
        "replay.timings.cut", "the timings are cut short after \(counted(spans, "span"))", at: path,
        advice: write)
    case .damaged(let line, let detail):
      ErrorFacts(
        "replay.timings.damaged", "line \(line) of the timings is damaged: \(detail)", at: path,
        advice: write)
    }
  }
}

/// A problem with the document of a device profile.
public enum ProfileFault: Hashable, Sendable {
  case unreadable(cause: String)
  case malformed(message: String, advice: String?, pointer: String)

  fileprivate func facts(_ path: String) -> ErrorFacts {
    let example = "{\"v\": 1, \"name\": \"slow\", \"scale\": {\"*\": 2}}"
    return switch self {
    case .unreadable(let cause):
      ErrorFacts(
        "replay.profile.unreadable", "the device profile cannot be read", cause: cause, at: path,
        advice: "Name a JSON file, such as \(example)")
    case .malformed(let message, let advice, let pointer):
      ErrorFacts(
        "replay.profile.malformed", message, at: path, pointer: pointer,
        advice: advice
          ?? (pointer.hasPrefix("/heat")
            ? "Compare it with a complete profile: retake profile example phone-derived"
            : "For example \(example)"))
    }
  }
}
