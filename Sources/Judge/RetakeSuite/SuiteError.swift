package import RetakeCore

/// An error that keeps a suite from doing its work.
package enum SuiteError: RetakeError, Hashable {
  case projectUnreadable(file: String, cause: String, advice: String)
  case badProject(message: String, advice: String?, pointer: String, file: String)
  case noPipeline(String, known: [String])
  /// A command or options that cannot be used as a program.
  case badProgram(String, problem: String)
  /// There is such a file or folder, and it cannot be read as a pipeline.
  case pipelineUnreadable(String, cause: String)
  case noSession(String, folder: String, known: [String])
  /// A pipeline or a case names a file outside of the project.
  case outside(path: String, folder: String)
  /// A golden is there, and its recording is not. `link` is where a link of that name leads.
  case noRecording(String, golden: String, folder: String, link: String?)
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
  /// The session calls frames damaged, and the test refuses them. The session is written as on a
  /// command line.
  case damagedFrames(String, session: String)
  case notWritable(path: String, cause: String)
  /// A file or folder of a project, read by `ProjectMigration`.
  case notReadable(path: String, cause: String)
  /// A folder with more files than a project has.
  case tooManyFiles(path: String, most: Int)
  case exists(path: String)
  /// The folder is already a project.
  case hasProject(file: String)
  case missingReason
  /// No selected case has a golden.
  case noGoldenYet
  /// The pending golden describes something else than the golden of the same name.
  case replacesOther(key: String, differences: [String])
  case nothingPending
  /// The pending goldens are from earlier tests.
  case notOfLastTest([String])
  case noProjectFile
  /// A test asks for a track that the session does not have.
  case noTrack(Int, session: String, tracks: [Int])
  /// No folder above a file of tests has a retake.yml.
  case noProjectFound(name: String, near: String?)
  /// There are pending goldens, but not the named golden.
  case notPending(String, known: [String])
  /// No pending golden has a root cause or a stage of that name.
  case noRootCause(String, known: [String])
  /// An alternate is always a complete golden, so it cannot be accepted in parts.
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
  /// No given run is a run of one of these cases.
  case noRun(of: String)
  /// No report exists at that path.
  case noReport(path: String)
  case noFile(path: String)
  case noScene(String, known: [String])
  case badScene(String)
  /// Options of a `--source` that its stage does not accept.
  case badSource(String, cause: String, advice: String?)
  /// A `--source` for a pipeline that reads no session.
  case noSessionSource(String, pipeline: String)
  /// Only files have tracks to choose from.
  case tracksOfFiles(String)
  /// An option that only a synthetic scene, and for some options a camera, supports.
  case sceneOnly(String, of: String)
  /// Two outputs of one run would be mixed.
  case sameOutput(String)
  /// An output would overwrite an input of the run.
  case outputOverInput(path: String, input: String)
  /// An output would replace a media file that Retake did not write.
  case outputOverMedia(path: String)
  case noMetadata(pipeline: String)
  /// The container of a video cannot be inferred from its file name.
  case overlayFile(path: String, known: [String])
  /// A video is drawn over the frames of a session, but the pipeline reads no session.
  case overlaySession(pipeline: String)
  /// Several sinks write lines, and the command names no sink.
  case severalMetadata([String])
  case notMetadata(String, known: [String])
  /// No node, or not the named node, computes the model.
  case noModelNode(String?, model: String, pipeline: String, known: [String])
  /// Several nodes compute the model, and the command names no node.
  case severalModelNodes([String], model: String)
  /// The node does not receive the frame, or the item of a forEach.
  case notReached(String, frame: FrameID, item: Int?)
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

  package var facts: ErrorFacts {
    switch self {
    case .projectUnreadable(let file, let cause, let advice):
      ErrorFacts(
        "suite.project.unreadable", "the project file cannot be read", cause: cause, at: file,
        advice: advice)
    case .badProject(let message, let advice, let pointer, let file):
      ErrorFacts(
        "suite.project.malformed", message, at: file, pointer: pointer,
        advice: advice ?? "Fix it, and check that it can be read with: retake doctor")
    // No pipeline is similar to this path, so a suggestion would be empty. The known pipelines are
    // listed.
    case .noPipeline(let name, let known)
    where Self.isPath(name) && Suggestion.nearest(to: name, among: known) == nil:
      ErrorFacts(
        "suite.select.noPipeline", "there is no pipeline file '\(name)'",
        advice: "Check the path, or name one of these: \(known.joined(separator: ", "))")
    case .noPipeline(let name, let known)
    where name.hasPrefix("example:") && Suggestion.nearest(to: name, among: known) == nil:
      ErrorFacts(
        "suite.select.noPipeline", "there is no pipeline '\(name)'",
        advice: "A pipeline in Swift is an argument: RetakeCommand.main(pipelines:), or in tests "
          + "the trait .retake(pipelines:). Known: \(known.joined(separator: ", "))")
    case .noPipeline(let name, let known):
      ErrorFacts(
        "suite.select.noPipeline",
        "there is no pipeline \(Self.isPath(name) ? "file " : "")'\(name)'",
        advice: Self.document(named: name, among: known).map { "Did you mean '\($0)'?" }
          ?? Suggestion.advice(for: name, among: known))
    case .badProgram(let command, let problem):
      ErrorFacts(
        "suite.select.badProgram", "'\(command.shortened)' is not a program: \(problem)",
        advice: "Write a command as in a shell: --program 'python3 app.py'")
    case .pipelineUnreadable(let name, let cause):
      ErrorFacts(
        "suite.select.unreadable", "the pipeline '\(name)' cannot be read", cause: cause,
        advice: "Name a JSON file that you may read, a case of retake.yml, or example:NAME")
    case .noSession(let name, let folder, let known):
      ErrorFacts(
        "suite.select.noSession", "there is no session '\(name)'", at: folder,
        advice: known.isEmpty
          ? "Make one: retake import FILE" : Suggestion.advice(for: name, among: known))
    case .noRecording(let name, let golden, let folder, let link):
      ErrorFacts(
        "suite.select.noRecording", "there is no recording '\(name)' here",
        cause: link.map { "it is a link to '\($0)', which is not there" }, at: folder,
        advice: "Fetch it; or if it is gone for good, remove the golden: "
          + "retake golden list --stale \(golden) --remove")
    case .outside(let path, let folder):
      ErrorFacts(
        "suite.input.outside",
        "'\(path)' is not in the project, and a pipeline reads no images and costs elsewhere",
        at: folder,
        advice: "Put it into the project, or if you trust the project, add to the command: "
          + "--allow-outside")
    case .noSuite(let name, let known):
      ErrorFacts(
        "suite.select.noSuite", "there is no suite '\(name)'",
        advice: Suggestion.advice(for: name, among: known))
    case .noCase(let name, let known):
      ErrorFacts(
        "suite.select.noCase", "there is no case '\(name)'",
        advice: known.isEmpty
          ? "No case is defined in this folder. Make a project: retake init"
          : Suggestion.advice(for: name, among: known))
    case .nothingSelected(let what, let advice):
      ErrorFacts(
        "suite.select.nothing", "no case is selected: \(what)",
        advice: advice
          ?? "List the sessions: retake session list; or test a session without a "
          + "project: retake test SESSION --pipeline example:motion-boxes",
        kind: .nothingSelected)
    case .badSessionName(let path):
      ErrorFacts(
        "suite.select.badSessionName", "goldens cannot be named after this session", at: path,
        advice: "Rename its folder: it may have letters, digits, '-', '_' and '.'")
    case .sameName(let name, let paths):
      ErrorFacts(
        "suite.select.sameName",
        "two sessions are named '\(name)': \(paths.joined(separator: " and "))",
        advice: "Test them one after the other, with different folders for --goldens")
    case .halted(let failure):
      ErrorFacts(
        "suite.run.halted", "the run was halted: \(failure)",
        advice: failure.advice)
    case .damagedFrames(let text, let session):
      ErrorFacts(
        "suite.run.damagedFrames", text, cause: "--strict refuses damaged frames",
        advice: "See why: retake session check \(session); then record the scene again, trim the "
          + "session to its good frames, or test without --strict")
    case .notReadable(let path, let cause):
      ErrorFacts(
        "suite.migrate.notReadable", "this cannot be read, so nothing was rewritten", cause: cause,
        at: path, advice: "Make it readable, or move it out of the project")
    case .tooManyFiles(let path, let most):
      ErrorFacts(
        "suite.migrate.tooManyFiles", "the folder has more than \(most) files", at: path,
        advice: "Name the project's own folder: retake migrate FOLDER")
    case .notWritable(let path, let cause):
      ErrorFacts(
        "suite.output.notWritable", "cannot write here", cause: cause, at: path,
        advice: "Choose a folder that exists and can be written")
    case .exists(let path):
      ErrorFacts(
        "suite.output.exists", "a file or folder exists here already", at: path,
        advice: "Choose another name, or remove it first")
    case .hasProject(let file):
      ErrorFacts(
        "suite.project.exists", "this folder is a project already", at: file,
        advice: "Edit its cases and suites, then: retake test")
    case .missingReason:
      ErrorFacts(
        "suite.accept.missingReason", "a golden is accepted with a reason",
        advice: "Say why: retake accept --reason \"new detector\"", kind: .usage)
    case .noGoldenYet:
      ErrorFacts(
        "suite.adopt.noGolden", "no selected case has a golden",
        advice: "Make them: retake test, then: retake accept --reason \"first golden\"")
    case .replacesOther(let key, let differences):
      ErrorFacts(
        "suite.accept.replacesOther",
        "the golden of '\(key)' would be replaced, not changed: "
          + differences.joined(separator: "; "),
        advice: "To keep that golden, restore its files if they are damaged, or rename the session "
          + "or the case; then test again. To replace it: "
          + "retake accept \(key) --replace --reason \"why\"")
    case .nothingPending:
      ErrorFacts(
        "suite.accept.nothingPending", "no golden is pending",
        advice: "Make pending goldens with: retake test")
    case .notOfLastTest(let keys):
      ErrorFacts(
        "suite.accept.notOfLastTest",
        "no golden is pending from the last 'retake test', only from earlier tests: "
          + Self.list(keys),
        advice: "Test them again: retake test; or name them: retake accept "
          + "\((keys.first ?? "").shellWord) --reason \"why\"")
    case .noProjectFile:
      ErrorFacts(
        "suite.project.none",
        "there is no retake.yml, which names the wanted goldens",
        advice: "Name the cases in retake.yml, or remove a golden's folder by hand")
    case .noTrack(let track, let session, let tracks):
      ErrorFacts(
        "suite.select.noTrack", "the session '\(session)' has no track \(track)",
        advice: "It has \(tracks.map { "track \($0)" }.joined(separator: ", "))")
    case .noProjectFound(let name, let file):
      ErrorFacts(
        "suite.project.notFound",
        file == nil
          ? "this folder has no retake.yml"
          : "no folder above this file has \(name == "." ? "" : "\(name)/")retake.yml",
        at: file ?? name,
        advice: "Make one in the folder of your package: retake init; or name its folder: "
          + "project: \"DIR\"")
    case .notPending(let key, let known):
      ErrorFacts(
        "suite.accept.notPending", "no pending golden fits '\(key)'",
        advice: Suggestion.advice(for: key, among: known))
    case .noRootCause(let name, let known):
      ErrorFacts(
        "suite.accept.noRootCause", "no pending golden has the root cause or stage '\(name)'",
        advice: Suggestion.advice(for: name, among: known))
    case .partialAlternate:
      ErrorFacts(
        "suite.accept.partialAlternate", "an alternate is a complete golden, not a root cause",
        advice: "Leave out --root-cause and --stage, or --alternate")
    case .noTerminal:
      ErrorFacts(
        "suite.review.noTerminal", "a review needs a terminal on standard input",
        advice: "Name the right changes: retake accept --root-cause ID --reason \"…\"")
    case .acceptInCI:
      ErrorFacts(
        "suite.accept.inCI", "no golden can be accepted in CI",
        advice: "Accept on your own machine and commit Goldens/")
    case .noGolden(let path):
      ErrorFacts(
        "suite.diff.noGolden", "this is neither a golden nor a run", at: path,
        advice: "Name a golden as Goldens/SESSION/CASE. " + Self.makeRun)
    case .noGoldenFits(let key, let known):
      ErrorFacts(
        "suite.stale.noGolden", "no golden fits '\(key)'",
        advice: Suggestion.advice(for: key, among: known))
    case .noRevision(let name, let cause):
      ErrorFacts(
        "suite.diff.noRevision", "git cannot read revision '\(name)' of this project",
        cause: cause, advice: "List the revisions: git log --oneline")
    case .notFitted(let key, let cause):
      ErrorFacts(
        "suite.fit.notNumbers", "the runs of \(key) differ in more than numbers", cause: cause,
        advice: "Fix that first, or look at it: retake diff GOLDEN RUN")
    case .noRun(let keys):
      ErrorFacts("suite.fit.noRun", "no run was given of \(keys)", advice: Self.makeRun)
    case .noReport(let path):
      ErrorFacts(
        "suite.report.none", "there is no report here", at: path,
        advice: "Make one with: retake test --report report")
    case .noFile(let path):
      ErrorFacts(
        "suite.record.noFile", "there is no such file", at: path,
        advice: "Record a file, or a drawn scene: retake record synthetic:figures")
    case .noScene(let name, let known):
      ErrorFacts(
        "suite.record.noScene", "there is no scene '\(name)'",
        advice: Suggestion.advice(for: name, among: known), kind: .usage)
    case .badScene(let detail):
      ErrorFacts(
        "suite.record.badScene", detail, advice: "See the options: retake record --help",
        kind: .usage)
    case .badSource(let text, let cause, let advice):
      ErrorFacts(
        "suite.source.bad", "'--source \(text)' cannot be used", cause: cause,
        advice: advice ?? "Write one of: \(SourceChoice.forms)", kind: .usage)
    case .noSessionSource(let text, let pipeline):
      ErrorFacts(
        "suite.source.noSession",
        "'--source \(text)' has no effect: no source of '\(pipeline)' reads a session",
        advice: "Leave out --source; the pipeline has its own frames", kind: .usage)
    case .tracksOfFiles(let name):
      ErrorFacts(
        "suite.record.tracks", "'\(name)' has one track; --track chooses among a file's",
        advice: "Leave out --track", kind: .usage)
    case .sceneOnly(let option, let name):
      ErrorFacts(
        "suite.record.sceneOnly", "'\(name)' brings its own images; \(option) has no effect",
        advice: option == "--seed"
          ? "Leave it out: only a drawn scene (synthetic:figures) has a seed"
          : "Leave \(option) out: drawn scenes (synthetic:figures) and cameras (/dev/video0) "
            + "have it",
        kind: .usage)
    case .sameOutput(let path):
      ErrorFacts(
        "suite.output.same",
        path == "-"
          ? "standard output can take only one stream"
          : "two outputs of the run have the same file",
        // Standard output is not a file that could be shown as the place.
        at: path == "-" ? nil : path, advice: "Name a different file for each", kind: .usage)
    case .outputOverInput(let path, let input):
      ErrorFacts(
        "suite.output.overInput", "'\(path)' would be written over \(input)",
        advice: "Name a file outside of sessions, goldens and input files")
    case .outputOverMedia(let path):
      ErrorFacts(
        "suite.output.overMedia", "'\(path)' is a media file that Retake did not write",
        advice: "Name another file, or move this one away first")
    case .noMetadata(let pipeline):
      ErrorFacts(
        "suite.metadata.none", "the pipeline '\(pipeline)' has no metadata sink",
        advice: "Add {\"id\": \"analytics\", \"kind\": \"metadata\"} to its nodes, "
          + "and an edge to it")
    case .overlayFile(let path, let known):
      ErrorFacts(
        "suite.overlay.file", "'\(path)' has no known file extension of a video",
        advice: "End its name with one of: \(known.map { "." + $0 }.joined(separator: ", "))")
    case .overlaySession(let pipeline):
      ErrorFacts(
        "suite.overlay.noSession",
        "the pipeline '\(pipeline)' reads no session that results could be drawn over",
        advice: "Name a session, and a pipeline with a node of kind 'session': "
          + "retake replay SESSION --pipeline P --overlay FILE")
    case .severalMetadata(let known):
      ErrorFacts(
        "suite.metadata.several",
        "the pipeline has several metadata sinks: \(known.joined(separator: ", "))",
        advice: "Say which: --metadata \(known.first ?? "NODE")=FILE")
    case .notMetadata(let name, let known):
      ErrorFacts(
        "suite.metadata.otherNode", "'\(name)' is not a metadata sink",
        advice: Suggestion.advice(for: name, among: known))
    case .noModelNode(let node, let model, let pipeline, let known):
      ErrorFacts(
        "suite.model.noNode",
        "\(node.map { "the node '\($0)'" } ?? "no node") of the pipeline '\(pipeline)' "
          + "\(node == nil ? "computes" : "does not compute") '\(model)'",
        advice: known.isEmpty
          ? "The pipeline has no node that computes a model"
          : "Name one of its models: \(known.joined(separator: ", "))")
    case .severalModelNodes(let nodes, let model):
      ErrorFacts(
        "suite.model.severalNodes",
        "several nodes compute '\(model)': \(nodes.joined(separator: ", "))",
        advice: "Say which: --node \(nodes.first ?? "NODE")")
    case .notReached(let node, let frame, let item):
      ErrorFacts(
        "suite.model.notReached",
        "\(item.map { "the item \($0) of " } ?? "")the frame \(frame) is not given to the node "
          + "'\(node)'",
        advice: "Choose another with --frame\(item == nil ? "" : " or --item")")
    case .verifyProcessFailed(let condition, let cause):
      ErrorFacts(
        "suite.verify.infrastructure", "infrastructure: no result from '\(condition)'",
        cause: cause,
        advice: "Run it again; if it fails again, a stage cannot run under the condition: "
          + "see its last words")
    case .traceUnwritable(let path, let cause):
      ErrorFacts(
        "suite.verify.traceUnwritable", "the trace of a run cannot be written", cause: cause,
        at: path, advice: "Choose a folder with more free space: export TMPDIR=DIR")
    }
  }

  private static let makeRun =
    "Make a run with: retake replay SESSION --pipeline P --output RUN"

  /// The first few of many names.
  package static func list(_ names: [String]) -> String {
    let most = 8
    guard names.count > most else { return names.joined(separator: ", ") }
    return names.prefix(most).joined(separator: ", ") + " and \(names.count - most) more"
  }

  /// The document that `name` is meant for if it has neither its folder nor `.json`.
  private static func document(named name: String, among known: [String]) -> String? {
    known.first { $0.split(separator: "/").last.map(String.init) == name + ".json" }
  }

  /// Whether the name was meant as a file.
  private static func isPath(_ name: String) -> Bool {
    name.contains("/") || name.lowercased().hasSuffix(".json")
  }
}
