import Foundation
import RetakeGolden
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeSession

/// The outputs of a replay in addition to its run folder, and their places: a path, `-` for
/// standard output, or `nil` for no output.
package struct RunOutputs: Sendable {
  /// Result lines on standard output, each as soon as it is known.
  package var follows = false
  /// The unfolded decision lines.
  package var decisions: String?
  /// A trace of virtual time.
  package var trace: String?
  /// Recorded timings. The run then measures its stages, with one worker.
  package var timings: String?
  package var metadata: [MetadataOutput] = []
  /// A video of the session with the results drawn over it; never standard output.
  package var overlay: String?

  package init() {}

  /// Every path, in a fixed order.
  var paths: [String] {
    [decisions, timings, trace, overlay].compactMap(\.self) + metadata.map(\.path)
  }

  static func isStandardOutput(_ path: String) -> Bool { path == "-" || path == "/dev/stdout" }

  /// Whether the path names a file, which a run could replace, rather than standard output or a
  /// device.
  package static func isFile(_ path: String) -> Bool { path != "-" && !path.hasPrefix("/dev/") }

  /// Whether results may still be printed after the run.
  package var leavesStandardOutput: Bool {
    !follows && !paths.contains(where: Self.isStandardOutput)
  }

  /// - Throws: `SuiteError.sameOutput` if two of them would be mixed, `suite.overlay.file` for
  ///   a file name from which the container cannot be inferred.
  package func check() throws {
    if let overlay { _ = try OverlayVideo.container(of: overlay) }
    let streams = paths.count(where: Self.isStandardOutput) + (follows ? 1 : 0)
    guard streams < 2 else { throw SuiteError.sameOutput("-") }
    // Devices may be named several times: an output to /dev/null overwrites no file.
    let files = paths.filter { !$0.hasPrefix("/dev/") }.map {
      URL(fileURLWithPath: $0).standardizedFileURL.path
    }
    for (index, file) in files.enumerated() where files[..<index].contains(file) {
      throw SuiteError.sameOutput(file)
    }
  }
}

extension RunOutputs {
  /// Checks every path against the inputs of the run: a session is never overwritten.
  ///
  /// - Parameters:
  ///   - session: The session's folder.
  ///   - pipeline: The pipeline's file.
  ///   - costs: The files of timings and a profile.
  /// - Throws: `SuiteError.outputOverInput`, `suite.output.overMedia`.
  func check(session: String?, pipeline: String?, costs: [String] = []) throws {
    for path in paths {
      try Self.check(file: path, session: session, pipeline: pipeline, costs: costs)
    }
  }

  /// The same check for a recording.
  ///
  /// - Parameters:
  ///   - session: The folder of the new session.
  ///   - pipeline: The pipeline's file.
  ///   - input: The media file that is recorded.
  /// - Throws: `SuiteError.outputOverInput`.
  package func check(
    newSession session: String, pipeline: String?, input: String
  ) throws {
    for path in paths where Self.isFile(path) {
      let file = Self.resolved(path)
      guard file != Self.resolved(input) else {
        throw SuiteError.outputOverInput(path: path, input: "the file that is recorded")
      }
      let folder = Self.resolved(session)
      guard file != folder, !file.hasPrefix(folder + "/") else {
        throw SuiteError.outputOverInput(path: path, input: "the session that is recorded")
      }
      try Self.check(file: path, session: nil, pipeline: pipeline)
    }
  }

  /// The same check for one file.
  ///
  /// - Throws: `SuiteError.outputOverInput`, `suite.output.overMedia`.
  package static func check(
    file path: String, session: String? = nil, pipeline: String?, costs: [String] = [],
    shader: String? = nil
  ) throws {
    guard isFile(path) else { return }
    let file = resolved(path)
    guard shader.map(resolved) != file else {
      throw SuiteError.outputOverInput(path: path, input: "the shader that is read")
    }
    guard !costs.map(resolved).contains(file) else {
      throw SuiteError.outputOverInput(path: path, input: "the timings or profile that is read")
    }
    // With the slash, because a session `yard` does not contain the files of `yard2`.
    if let session, file == resolved(session) || file.hasPrefix(resolved(session) + "/") {
      throw SuiteError.outputOverInput(path: path, input: "the session that is read")
    }
    try checkPipeline(pipeline, file: path)
    try checkKept(path, file)
    guard !ExistingMedia.isOfOthers(file) else {
      throw SuiteError(
        "suite.output.overMedia", "'\(path)' is a media file that Retake did not write",
        advice: "Name another file, or move this one away first")
    }
  }

  /// - Throws: `SuiteError.outputOverInput` for the pipeline's own file.
  static func checkPipeline(_ pipeline: String?, file path: String) throws {
    guard let pipeline, resolved(path) == resolved(pipeline) else { return }
    throw SuiteError.outputOverInput(path: path, input: "the pipeline's own file")
  }

  /// Files of sessions and goldens and the project's file are written by the commands that own them
  /// alone.
  private static func checkKept(_ path: String, _ file: String) throws {
    let url = URL(fileURLWithPath: file)
    guard url.lastPathComponent != Project.fileName else {
      throw SuiteError.outputOverInput(path: path, input: "the project's file")
    }
    let files = FileManager.default
    // Notes and traces may be next to the files of a golden or of a run that is kept.
    let golden = url.deletingLastPathComponent().appending(path: GoldenFolder.manifestName)
    if GoldenFolder.isGoldenFile(url.lastPathComponent), files.fileExists(atPath: golden.path) {
      throw SuiteError.outputOverInput(path: path, input: "a file of a golden")
    }
    if let session = SessionFolder.enclosing(file) {
      throw SuiteError.outputOverInput(path: path, input: "the session \(session.name)")
    }
  }

  /// - Parameter endsWithReader: Whether the run ends when no one reads standard output any more.
  /// - Throws: `ReplayError.unwritable`.
  static func file(
    _ path: String, _ output: ReplayError.Output, endsWithReader: Bool = false
  ) throws -> WholeFile {
    guard isStandardOutput(path) else { return try WholeFile(path: path, output: output) }
    return WholeFile(
      stream: ProcessContext.current.output, name: ReplayError.standardOutput, output: output,
      endsWithReader: endsWithReader)
  }

  /// The path after following the links of its folders, and of the file itself if it exists.
  private static func resolved(_ path: String) -> String {
    let url = URL(fileURLWithPath: path).standardizedFileURL
    // Links are followed, because a link into a session would pass the checks.
    if FileManager.default.fileExists(atPath: url.path) {
      return url.resolvingSymlinksInPath().path
    }
    return url.deletingLastPathComponent().resolvingSymlinksInPath().path + "/"
      + url.lastPathComponent
  }

  /// Notes for the user about outputs that are not written, in sentences.
  func notes(on replay: Replay) -> [String] {
    guard metadata.isEmpty, let sink = replay.pipeline.metadataSinks.first else { return [] }
    return ["the lines of '\(sink)' are written where you say: --metadata \(sink)=FILE"]
  }
}

extension UnfoldedDecisionWriter: RunOutput {}
extension RecordedTimingsWriter: RunOutput {}
extension ResultLineWriter: RunOutput {}

/// The outputs of one run, during the run.
struct OpenOutputs {
  private var outputs: [any RunOutput] = []
  private let endsWithReader: Bool

  var observers: [any RunObserver] { outputs }

  /// - Parameter isAlone: Whether the run writes no results' folder. If it also has only one
  ///   output, the run ends when no one reads that output any more.
  /// - Throws: `SuiteError`, `ReplayError.unwritable`; in that case no file remains.
  init(
    _ wanted: RunOutputs, of replay: Replay, reader: SessionReader? = nil, isAlone: Bool
  ) throws {
    // Before the first file is opened: of two outputs with one path, the second would replace the
    // first.
    try wanted.check()
    // With any other output the run continues, because that output is still wanted.
    endsWithReader = isAlone && wanted.paths.count + (wanted.follows ? 1 : 0) == 1
    do {
      try open(wanted, of: replay)
      if let path = wanted.overlay {
        outputs.append(try OverlayVideo(path, of: replay, reader: reader))
      }
    } catch {
      discard()
      throw error
    }
  }

  private mutating func open(_ wanted: RunOutputs, of replay: Replay) throws {
    if let path = wanted.decisions {
      outputs.append(UnfoldedDecisionWriter(try file(path, .decisions)))
    }
    if let path = wanted.timings {
      outputs.append(RecordedTimingsWriter(try file(path, .timings), key: replay.key))
    }
    if let path = wanted.trace {
      outputs.append(TraceObserver(try file(path, .trace), of: replay))
    }
    for metadata in wanted.metadata {
      let sink = try replay.pipeline.metadataSink(named: metadata.sink)
      outputs.append(
        try ResultLineWriter(
          try file(metadata.path, .metadata), of: replay, sink: sink, isLive: false))
    }
    if wanted.follows {
      outputs.append(try ResultLineWriter(try file("-", .results), of: replay, isLive: true))
    }
  }

  private func file(_ path: String, _ output: ReplayError.Output) throws -> WholeFile {
    try RunOutputs.file(path, output, endsWithReader: endsWithReader)
  }

  /// Moves the files to their final places. A run that was halted gets no timings, because the
  /// timings would end in the middle.
  ///
  /// - Throws: `ReplayError.unwritable`, `ReplayError.readerGone`.
  func finish(isHalted: Bool = false) throws {
    for output in outputs {
      if isHalted, output is RecordedTimingsWriter { output.discard() } else { try output.finish() }
    }
  }

  /// Of outputs whose reader left before the end, which does not end a run that writes others.
  var losses: [ReplayError] { outputs.compactMap(\.loss) }

  /// Removes the files of a run that failed.
  func discard() {
    for output in outputs { output.discard() }
  }
}

extension Pipeline {
  /// The ids of the sinks that write lines of their own.
  var metadataSinks: [String] {
    nodes.filter { $0.kind == AnyStage.metadataKind }.map(\.id)
  }

  /// - Parameter id: `nil` means the only one.
  /// - Throws: `SuiteError.noMetadata`, `suite.metadata.several`, `.notMetadata`.
  func metadataSink(named id: String?) throws -> String {
    let known = metadataSinks
    guard let id else {
      guard let only = known.first else { throw SuiteError.noMetadata(pipeline: name) }
      guard known.count == 1 else {
        throw SuiteError(
          "suite.metadata.several",
          "the pipeline has several metadata sinks: \(known.joined(separator: ", "))",
          advice: "Say which: --metadata \(known.first ?? "NODE")=FILE")
      }
      return only
    }
    guard known.contains(id) else {
      throw known.isEmpty ? SuiteError.noMetadata(pipeline: name) : .notMetadata(id, known: known)
    }
    return id
  }
}
