import RetakeCore

/// Errors that prevent a replay from starting, or its files from being written.
public enum ReplayError: CodedError, Hashable {
  /// A file that a command writes.
  public enum Output: String, Hashable, Sendable {
    case decisions
    case drawing
    case metadata
    case overlay
    case results
    case tape
    case trace
  }

  /// The paths in errors about standard streams.
  package static let standardOutput = "standard output"
  package static let standardError = "standard error"

  /// The case names a track for a node that is not a session source.
  case unknownSource(node: String, sources: [String])
  /// The case sets quanta for a node that is not a sink.
  case unknownSink(node: String, sinks: [String])
  /// The results node declares a quantum that cannot be used.
  case badQuantum(node: String, detail: String)
  /// An override cannot be read, or cannot be applied to this pipeline.
  case badOverride(String, detail: String, advice: String?)
  case noSession(node: String)
  /// A live run was recorded without its pipeline, which has closures.
  case noPipeline(session: String, run: Int)
  /// Result lines are requested for a sink that does not exist.
  case noSuchSink(node: String, sinks: [String])
  /// The costs should come from a session, but none was given.
  case noSessionCosts
  case unwritable(Output, path: String, cause: String)
  /// The run ended because its output is no longer read.
  case readerGone(Output)
  /// A sweep that cannot be parsed, or that does not fit this pipeline.
  case badSweep(String, advice: String)
  case tape(TapeFault, path: String)
  case profile(ProfileFault, path: String)

  public var code: String {
    switch self {
    case .unknownSource: "replay.case.unknownSource"
    case .unknownSink: "replay.case.unknownSink"
    case .badQuantum: "replay.case.badQuantum"
    case .badOverride: "replay.case.badOverride"
    case .noSession: "replay.case.noSession"
    case .noPipeline: "replay.reenact.noPipeline"
    case .noSuchSink: "replay.results.noSuchSink"
    case .noSessionCosts: "replay.costs.noSession"
    case .unwritable(let output, _, _): "replay.\(output.rawValue).unwritable"
    case .readerGone(let output): "replay.\(output.rawValue).readerGone"
    case .badSweep: "replay.sweep.bad"
    case .tape(let fault, _): "replay.tape.\(fault.word)"
    case .profile(let fault, _): "replay.profile.\(fault.word)"
    }
  }

  public var message: String {
    switch self {
    case .unknownSource(let node, _):
      "a track is chosen for '\(node)', which is not a session source"
    case .unknownSink(let node, _): "quanta are given for '\(node)', which is not a sink"
    case .badQuantum(let node, let detail): "the quantum of '\(node)' cannot be used: \(detail)"
    case .badOverride(let text, let detail, _): "the override '\(text)' cannot be used: \(detail)"
    case .noSession(let node): "the source '\(node)' reads a session, and none was named"
    case .noPipeline(_, let run): "the run \(run) was recorded without a pipeline document"
    case .noSuchSink(let node, _): "the pipeline has no sink '\(node)'"
    case .noSessionCosts: "the costs are to come from a session, and none was named"
    case .unwritable(let output, _, _): "\(output.words) cannot be written"
    case .readerGone(let output): "no one reads \(output.words) any more"
    case .badSweep(let detail, _): detail
    case .tape(let fault, _): fault.message
    case .profile(let fault, _): fault.message
    }
  }

  public var cause: String? {
    switch self {
    case .unwritable(_, _, let cause), .tape(.unreadable(let cause), _),
      .profile(.unreadable(let cause), _):
      cause
    default: nil
    }
  }

  public var place: Place? {
    switch self {
    case .unwritable(_, let path, _), .tape(_, let path): Place(file: path)
    case .profile(let fault, let path): Place(file: path, pointer: fault.pointer)
    default: nil
    }
  }

  public var advice: String? {
    switch self {
    case .unknownSource(let node, let known), .unknownSink(let node, let known),
      .noSuchSink(let node, let known):
      Suggestion.advice(for: node, among: known)
    case .badQuantum: "Use powers of ten: {\"box\": 0.1, \"score\": 0.0001, \"scalar\": 0.001}"
    case .badOverride(_, _, let advice): advice
    case .noSession: "Name one: retake replay SESSION --pipeline P"
    case .noPipeline(let session, _):
      "Name it: retake replay \(session.shellWord) --mode reenact --pipeline P"
    case .noSessionCosts:
      "Name one: retake replay SESSION --pipeline P --costs tape; or a file: --costs tape:FILE"
    case .unwritable(_, Self.standardOutput, _):
      "Send standard output to a file on a disk with room, or to another program"
    case .unwritable: "Choose a file in a folder that exists, can be written and has room"
    case .readerGone: nil
    case .badSweep(_, let advice): advice
    case .tape(let fault, _): fault.advice
    case .profile(let fault, _): fault.advice
    }
  }
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
    case .metadata: "the metadata"
    case .overlay: "the video with the overlay"
    case .results: "the results"
    case .tape: "the cost tape"
    case .trace: "the trace"
    }
  }
}

/// A problem with the file of a cost tape.
public enum TapeFault: Hashable, Sendable {
  case unreadable(cause: String)
  case notTape
  case newer(version: Int)
  /// The file ends before its end line.
  case cut(spans: Int)
  /// A line was changed after it was written.
  case damaged(line: Int, detail: String)

  fileprivate var word: String {
    switch self {
    case .unreadable: "unreadable"
    case .notTape: "notTape"
    case .newer: "newerVersion"
    case .cut: "cut"
    case .damaged: "damaged"
    }
  }

  fileprivate var message: String {
    switch self {
    case .unreadable: "the cost tape cannot be read"
    case .notTape: "this is not a cost tape"
    case .newer(let version): "the cost tape has version \(version); this Retake reads version 1"
    case .cut(let spans): "the cost tape is cut short after \(spans) spans"
    case .damaged(let line, let detail): "line \(line) of the cost tape is damaged: \(detail)"
    }
  }

  fileprivate var advice: String {
    switch self {
    case .newer: "Update Retake, or write the tape again with this one"
    default: "Write one with: retake replay SESSION --pipeline P --write-tape FILE"
    }
  }
}

/// A problem with the document of a device profile.
public enum ProfileFault: Hashable, Sendable {
  case unreadable(cause: String)
  case malformed(message: String, advice: String?, pointer: String)

  fileprivate var word: String {
    switch self {
    case .unreadable: "unreadable"
    case .malformed: "malformed"
    }
  }

  fileprivate var message: String {
    switch self {
    case .unreadable: "the device profile cannot be read"
    case .malformed(let message, _, _): message
    }
  }

  fileprivate var pointer: String? {
    guard case .malformed(_, _, let pointer) = self else { return nil }
    return pointer
  }

  fileprivate var advice: String {
    switch self {
    case .unreadable:
      "Name a JSON file, such as {\"v\": 1, \"name\": \"slow\", \"scale\": {\"*\": 2}}"
    case .malformed(_, let advice, _):
      advice ?? "For example {\"v\": 1, \"name\": \"slow\", \"scale\": {\"*\": 2}}"
    }
  }
}
