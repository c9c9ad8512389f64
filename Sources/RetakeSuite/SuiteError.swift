import RetakeCore

/// An error that keeps a suite from doing its work.
package enum SuiteError: CodedError, Hashable {
  case projectUnreadable(file: String, cause: String, advice: String)
  case badProject(message: String, advice: String?, pointer: String, file: String)
  /// A load for the pool benchmark is malformed.
  case badLoad(message: String, advice: String?, pointer: String, file: String)
  case noPipeline(String, known: [String])
  case noSession(String, folder: String, known: [String])
  case noSuite(String, known: [String])
  case noCase(String, known: [String])
  /// Nothing matched the request.
  case nothingSelected(String, advice: String? = nil)
  /// Golden files cannot be named after the session.
  case badSessionName(path: String)
  /// The goldens of both sessions would have the same path.
  case sameName(String, paths: [String])
  /// A stage ended the run before its last frame.
  case halted(StageFailure)
  case notWritable(path: String, cause: String)
  case exists(path: String)
  /// The folder is already a project.
  case hasProject(file: String)
  case missingReason
  /// None of the selected cases has a golden.
  case noGoldenYet
  /// What is pending describes something else than the golden of the same name.
  case replacesOther(key: String, differences: [String])
  case nothingPending
  case noProjectFile
  /// There are pending goldens, but not the one that was named.
  case notPending(String, known: [String])
  /// Nothing pending has a root cause or a stage of that name.
  case noRoot(String, known: [String])
  /// An alternate is always a whole golden, so it cannot be accepted in parts.
  case partialAlternate
  /// A review asks questions, and standard input is not a terminal.
  case noTerminal
  /// Goldens are accepted by a person, not in CI.
  case acceptInCI
  case noGolden(path: String)
  /// No golden has that name or matches that glob.
  case noGoldenFits(String, known: [String])
  /// git has no such revision, cannot read it, or the folder is not in a git repository.
  case noRevision(String, cause: String)
  /// A tolerance cannot cover the difference.
  case notFitted(String, cause: String)
  /// None of the given runs is a run of one of these cases.
  case noRun(of: String)
  /// No report exists at that path.
  case noReport(path: String)
  case noFile(path: String)
  case noScene(String, known: [String])
  case badScene(String)
  /// Only files have tracks to choose from.
  case tracksOfFiles(String)
  /// An option that only a synthetic scene, and for some options a camera, supports.
  case sceneOnly(String, of: String)
  /// Two outputs of one run would be mixed.
  case sameOutput(String)
  /// An output would overwrite what the run reads.
  case outputOverInput(path: String, input: String)
  /// An output would replace a media file that Retake did not write.
  case outputOverMedia(path: String)
  case noMetadata(pipeline: String)
  /// The container of a video cannot be inferred from its file name.
  case overlayFile(path: String, known: [String])
  /// A video is drawn over the frames of a session, but the pipeline reads none.
  case overlaySession(pipeline: String)
  /// Several sinks write lines, and none was named.
  case severalMetadata([String])
  case notMetadata(String, known: [String])
  /// A process that verify started did not complete its work.
  case verifyProcessFailed(condition: String, cause: String)
  case traceUnwritable(path: String, cause: String)

  static func project(_ problem: DocumentProblem, file: String) -> SuiteError {
    // As YAML is written, without quotes.
    let advice =
      switch problem.reason {
      case .otherVersion: "Update Retake, or write v: 1"
      case .missingKey("v"): "Begin the file with: v: 1"
      case .missingKey: "Add it"
      default: problem.advice
      }
    return .badProject(
      message: problem.message, advice: advice, pointer: problem.pointer, file: file)
  }

  /// Whether the name was meant as a file.
  private static func isPath(_ name: String) -> Bool {
    name.contains("/") || name.lowercased().hasSuffix(".json")
  }

  package var code: String {
    switch self {
    case .projectUnreadable: "suite.project.unreadable"
    case .badProject: "suite.project.malformed"
    case .badLoad: "suite.bench.load"
    case .noPipeline: "suite.select.noPipeline"
    case .noSession: "suite.select.noSession"
    case .noSuite: "suite.select.noSuite"
    case .noCase: "suite.select.noCase"
    case .nothingSelected: "suite.select.nothing"
    case .badSessionName: "suite.select.badSessionName"
    case .sameName: "suite.select.sameName"
    case .halted: "suite.run.halted"
    case .notWritable: "suite.output.notWritable"
    case .exists: "suite.output.exists"
    case .hasProject: "suite.project.exists"
    case .missingReason: "suite.accept.missingReason"
    case .noGoldenYet: "suite.adopt.noGolden"
    case .replacesOther: "suite.accept.replacesOther"
    case .nothingPending: "suite.accept.nothingPending"
    case .noProjectFile: "suite.project.none"
    case .notPending: "suite.accept.notPending"
    case .noRoot: "suite.accept.noRoot"
    case .partialAlternate: "suite.accept.partialAlternate"
    case .noTerminal: "suite.review.noTerminal"
    case .acceptInCI: "suite.accept.inCI"
    case .noGolden: "suite.diff.noGolden"
    case .noGoldenFits: "suite.stale.noGolden"
    case .noRevision: "suite.diff.noRevision"
    case .notFitted: "suite.fit.notNumbers"
    case .noRun: "suite.fit.noRun"
    case .noReport: "suite.report.none"
    case .noFile: "suite.record.noFile"
    case .noScene: "suite.record.noScene"
    case .badScene: "suite.record.badScene"
    case .tracksOfFiles: "suite.record.tracks"
    case .sceneOnly: "suite.record.sceneOnly"
    case .sameOutput: "suite.output.same"
    case .outputOverInput: "suite.output.overInput"
    case .outputOverMedia: "suite.output.overMedia"
    case .noMetadata: "suite.metadata.none"
    case .overlayFile: "suite.overlay.file"
    case .overlaySession: "suite.overlay.noSession"
    case .severalMetadata: "suite.metadata.several"
    case .notMetadata: "suite.metadata.otherNode"
    case .verifyProcessFailed: "suite.verify.infrastructure"
    case .traceUnwritable: "suite.verify.traceUnwritable"
    }
  }

  package var message: String {
    switch self {
    case .projectUnreadable: "the project file cannot be read"
    case .badProject(let message, _, _, _), .badLoad(let message, _, _, _): message
    case .noPipeline(let name, _):
      Self.isPath(name) ? "there is no pipeline file '\(name)'" : "there is no pipeline '\(name)'"
    case .noSession(let name, _, _): "there is no session '\(name)'"
    case .noSuite(let name, _): "there is no suite '\(name)'"
    case .noCase(let name, _): "there is no case '\(name)'"
    case .nothingSelected(let what, _): "nothing is selected: \(what)"
    case .badSessionName: "goldens cannot be named after this session"
    case .sameName(let name, let paths):
      "two sessions are named '\(name)': \(paths.joined(separator: " and "))"
    case .halted(let failure): "the run was halted: \(failure)"
    case .notWritable: "cannot write here"
    case .exists: "there is something here already"
    case .hasProject: "this folder is a project already"
    case .missingReason: "a golden is accepted with a reason"
    case .noGoldenYet: "none of the selected cases has a golden"
    case .replacesOther(let key, let differences):
      "the golden of '\(key)' would be replaced, not changed: \(differences.joined(separator: "; "))"
    case .nothingPending: "nothing waits to be accepted"
    case .noProjectFile: "there is no retake.yml, and nothing else says which goldens are wanted"
    case .notPending(let key, _): "no pending golden fits '\(key)'"
    case .noRoot(let name, _): "nothing pending has the root cause or stage '\(name)'"
    case .partialAlternate: "an alternate is a whole golden, not some root causes"
    case .noTerminal: "a review asks for keys, and standard input is not a terminal"
    case .acceptInCI: "nothing is written to Goldens/ in CI"
    case .noGolden: "this is neither a golden nor a run"
    case .noGoldenFits(let key, _): "no golden fits '\(key)'"
    case .noRevision(let name, _): "git cannot read revision '\(name)' of this project"
    case .notFitted(let key, _): "the runs of \(key) differ in more than numbers"
    case .noRun(let keys): "no run was given of \(keys)"
    case .noReport: "there is no report here"
    case .noFile: "there is no such file"
    case .noScene(let name, _): "there is no scene '\(name)'"
    case .badScene(let detail): detail
    case .tracksOfFiles(let name): "'\(name)' has one track; --track chooses among a file's"
    case .sceneOnly(let option, let name):
      "'\(name)' brings its own pictures; \(option) has no effect"
    case .sameOutput("-"): "standard output can take one stream"
    case .sameOutput: "two outputs of the run have the same file"
    case .outputOverInput(let path, let input): "'\(path)' would be written over \(input)"
    case .outputOverMedia(let path): "'\(path)' is a media file that Retake did not write"
    case .noMetadata(let pipeline): "the pipeline '\(pipeline)' has no metadata sink"
    case .overlayFile(let path, _): "'\(path)' does not say what kind of video to write"
    case .overlaySession(let pipeline):
      "the pipeline '\(pipeline)' reads no session that results could be drawn over"
    case .severalMetadata(let known):
      "the pipeline has several metadata sinks: \(known.joined(separator: ", "))"
    case .notMetadata(let name, _): "'\(name)' is not a metadata sink"
    case .verifyProcessFailed(let condition, _): "infrastructure: no result from '\(condition)'"
    case .traceUnwritable: "the trace of a run cannot be written"
    }
  }

  package var cause: String? {
    switch self {
    case .projectUnreadable(_, let cause, _), .notWritable(_, let cause),
      .noRevision(_, let cause), .notFitted(_, let cause), .verifyProcessFailed(_, let cause),
      .traceUnwritable(_, let cause):
      cause
    default: nil
    }
  }

  package var place: Place? {
    switch self {
    case .projectUnreadable(let file, _, _), .hasProject(let file): Place(file: file)
    case .badProject(_, _, let pointer, let file), .badLoad(_, _, let pointer, let file):
      Place(file: file, pointer: pointer)
    case .noSession(_, let folder, _): Place(file: folder)
    // Standard output is not a file that could be shown as the place.
    case .sameOutput(let path) where path != "-": Place(file: path)
    case .badSessionName(let path), .notWritable(let path, _), .exists(let path),
      .noGolden(let path), .noReport(let path), .noFile(let path), .traceUnwritable(let path, _):
      Place(file: path)
    default: nil
    }
  }

  package var advice: String? {
    switch self {
    case .projectUnreadable(_, _, let advice): advice
    case .badLoad(_, let advice, _, _): advice ?? "See the loads in docs/pools.md"
    case .badProject(_, let advice, _, _):
      advice ?? "Fix it, and check that it can be read with: retake doctor"
    // Nothing is similar to this path, so a suggestion would be empty. The known ones are listed.
    case .noPipeline(let name, let known)
    where Self.isPath(name) && Suggestion.nearest(to: name, among: known) == nil:
      "Check the path, or name one of these: \(known.joined(separator: ", "))"
    case .noCase(_, let known) where known.isEmpty:
      "No case is defined in this folder. Make a project: retake init"
    case .noPipeline(let name, let known), .noSuite(let name, let known),
      .noCase(let name, let known), .notPending(let name, let known),
      .notMetadata(let name, let known), .noRoot(let name, let known),
      .noGoldenFits(let name, let known):
      Suggestion.advice(for: name, among: known)
    case .noSession(let name, _, let known):
      known.isEmpty
        ? "Make one: retake import FILE" : Suggestion.advice(for: name, among: known)
    case .nothingSelected(_, let advice?): advice
    case .nothingSelected:
      "See the sessions that there are: retake session list; "
        + "or test one without a project: retake test SESSION --pipeline example:motion-boxes"
    case .notWritable: "Choose a folder that exists and can be written"
    case .exists: "Choose another name, or remove it first"
    case .hasProject: "Edit its cases and suites, then: retake test"
    case .noGoldenYet:
      "Make them: retake test, then: retake accept --reason \"first golden\""
    case .missingReason: "Say why: retake accept --reason \"new detector\""
    case .replacesOther(let key, _):
      "To keep that golden, restore its files if they are damaged, or give the session or the case "
        + "another name; then test again. To replace it: "
        + "retake accept \(key) --replace --reason \"why\""
    case .nothingPending: "Make pending goldens with: retake test"
    case .noProjectFile: "Name the cases in retake.yml, or remove a golden's folder by hand"
    case .partialAlternate: "Leave out --root and --stage, or --alternate"
    case .noTerminal: "Name what is right: retake accept --root ID --reason \"…\""
    case .acceptInCI: "Accept on a desk and commit Goldens/"
    case .noFile: "Record a file, or a drawn scene: retake record synthetic:figures"
    case .noScene(let name, let known): Suggestion.advice(for: name, among: known)
    case .badSessionName: "Rename its folder: it may have letters, digits, '-', '_' and '.'"
    case .sameName: "Test one after the other, each with --goldens of its own"
    case .halted: "Repair what the stage needs, or let it throw a recoverable error"
    case .badScene: "See the options: retake record --help"
    case .tracksOfFiles: "Leave out --track"
    case .sceneOnly("--seed", _): "Leave it out: only a drawn scene (synthetic:figures) has a seed"
    case .sceneOnly(let option, _):
      "Leave \(option) out: drawn scenes (synthetic:figures) and cameras (/dev/video0) heed it"
    case .outputOverInput: "Name a file outside of sessions, goldens and what is read"
    case .outputOverMedia: "Name another file, or move this one away first"
    case .sameOutput: "Give each a file of its own"
    case .noMetadata:
      "Add {\"id\": \"analytics\", \"kind\": \"metadata\"} to its nodes, and an edge to it"
    case .overlayFile(_, let known):
      "End its name with one of: \(known.map { "." + $0 }.joined(separator: ", "))"
    case .overlaySession:
      "Name a session, and a pipeline with a node of kind 'session': "
        + "retake replay SESSION --pipeline P --overlay FILE"
    case .severalMetadata(let known): "Say which: --metadata \(known.first ?? "NODE")=FILE"
    case .verifyProcessFailed:
      "Run it again; if it ends so again, a stage cannot bear the condition: see its last words"
    case .traceUnwritable: "Choose a folder with more room: export TMPDIR=DIR"
    case .noRevision: "See what there is: git log --oneline"
    case .notFitted: "Fix that first, or look at it: retake diff GOLDEN RUN"
    case .noReport: "Make one with: retake test --report report"
    case .noGolden, .noRun: "Make a run with: retake replay SESSION --pipeline P --output RUN"
    }
  }
}
