package import RetakeCore
import RetakeReport

/// An error that keeps a suite from doing its work.
package struct SuiteError: FactualError {
  package let facts: ErrorFacts

  package init(facts: ErrorFacts) { self.facts = facts }

  package static func badProject(message: String, advice: String?, pointer: String, file: String)
    -> Self
  {
    Self(
      "suite.project.malformed", message, at: file, pointer: pointer,
      advice: advice ?? "Fix it, and check that it can be read with: retake doctor")
  }

  package static func noPipeline(_ name: String, known: [String]) -> Self {
    let isSimilar = Suggestion.nearest(to: name, among: known) != nil
    let all = known.joined(separator: ", ")
    let advice =
      if isPath(name), !isSimilar {
        // Nothing is similar to this path, so a suggestion would be empty. The known ones are
        // listed.
        "Check the path, or name one of these: \(all)"
      } else if name.hasPrefix("example:"), !isSimilar {
        "Only the program that defines a pipeline in Swift knows it: "
          + "RetakeCommand.main(pipelines:), in the ./retake of 'retake build'; or in tests "
          + "the trait .retake(pipelines:). Known: \(all)"
      } else {
        document(named: name, among: known).map { "Did you mean '\($0)'?" }
          ?? Suggestion.advice(for: name, among: known)
      }
    return Self(
      "suite.select.noPipeline", "there is no pipeline \(isPath(name) ? "file " : "")'\(name)'",
      advice: advice)
  }

  /// A command or options that cannot be used as a program.
  package static func badProgram(_ command: String, problem: String) -> Self {
    Self(
      "suite.select.badProgram", "'\(command.shortened)' is not a program: \(problem)",
      advice: "Write a command as in a shell: --program 'python3 app.py'")
  }

  package static func noSession(_ name: String, folder: String, known: [String]) -> Self {
    // A path is not looked for among the recordings.
    guard !name.contains("/") else {
      return Self(
        "suite.select.noSession", "there is no session here", at: name,
        advice: known.isEmpty
          ? "Make one: retake import FILE"
          : "Name a session's folder, or a session of \(folder): "
            + known.prefix(5).joined(separator: ", "))
    }
    return Self(
      "suite.select.noSession", "there is no session '\(name)'", at: folder,
      advice: known.isEmpty
        ? "Make one: retake import FILE" : Suggestion.advice(for: name, among: known))
  }

  /// A golden is there, and its recording is not. `link` is where a link of that name leads.
  package static func noRecording(_ name: String, golden: String, folder: String, link: String?)
    -> Self
  {
    Self(
      "suite.select.noRecording", "there is no recording '\(name)' here",
      cause: link.map { "it is a link to '\($0)', which is not there" }, at: folder,
      advice: link == nil
        ? "Fetch it; or if it is gone for good, remove the golden on your own machine: "
          + "retake golden list --stale \(golden) --remove"
        : "Mount the disk that it leads to, or correct the link")
  }

  package static func noCase(_ name: String, known: [String]) -> Self {
    Self(
      "suite.select.noCase", "there is no case '\(name)'",
      advice: known.isEmpty
        ? "No case is defined in this folder. Make a project: retake init"
        : Suggestion.advice(for: name, among: known))
  }

  /// Nothing matched the request.
  package static func nothingSelected(_ what: String, advice: String? = nil) -> Self {
    Self(
      "suite.select.nothing", "no case is selected: \(what)",
      advice: advice
        ?? "List the sessions: retake session list; or test a session without a "
        + "project: retake test SESSION --pipeline example:motion-boxes",
      kind: .nothingSelected)
  }

  /// A stage ended the run before its last frame.
  ///
  /// - Parameter run: Names the run, if the command has several.
  package static func halted(_ failure: StageFailure, of run: String = "the run") -> Self {
    // The errors of `retake.loop` say themselves what to change in the script.
    Self(
      "suite.run.halted", "\(run) was halted: \(failure)",
      advice: failure.code.hasPrefix("loop.") ? nil : failure.advice)
  }

  package static func notWritable(path: String, cause: String) -> Self {
    Self(
      "suite.output.notWritable", "cannot write here", cause: cause, at: path,
      advice: Wording.wayToWrite(
        after: cause, elsewhere: "choose a folder that exists and can be written"))
  }

  package static func exists(path: String) -> Self {
    Self(
      "suite.output.exists", "a file or folder exists here already", at: path,
      advice: "Choose another name, or remove it first")
  }

  package static let missingReason = Self(
    "suite.accept.missingReason", "a golden is accepted with a reason",
    advice: "Say why: retake accept --reason \"new detector\"", kind: .usage)

  package static let nothingPending = Self(
    "suite.accept.nothingPending", "no golden is pending",
    advice: "Make pending goldens with: retake test")

  package static let noProjectFile = Self(
    "suite.project.none",
    "there is no retake.yml, which names the wanted goldens",
    advice: "Name the cases in retake.yml, or remove a golden's folder by hand")

  /// No folder above a file of tests has a retake.yml.
  package static func noProjectFound(name: String, near file: String?) -> Self {
    Self(
      "suite.project.notFound",
      file == nil
        ? "this folder has no retake.yml"
        : "no folder above this file has \(name == "." ? "" : "\(name)/")retake.yml",
      at: file ?? name,
      advice: "Make one in the folder of your package: retake init; or name its folder: "
        + "project: \"DIR\"")
  }

  /// No pending golden has a root cause or a stage of that name.
  package static func noRootCause(_ name: String, known: [String]) -> Self {
    Self(
      "suite.accept.noRootCause", "no pending golden has the root cause or stage '\(name)'",
      advice: Suggestion.advice(for: name, among: known))
  }

  /// An alternate is always a complete golden, so it cannot be accepted in parts.
  package static let partialAlternate = Self(
    "suite.accept.partialAlternate", "an alternate is a complete golden, not a root cause",
    advice: "Leave out --root-cause and --stage, or --alternate")

  /// A review asks questions, and standard input is not a terminal.
  package static let noTerminal = Self(
    "suite.review.noTerminal", "a review needs a terminal on standard input",
    advice: "Name the right changes: retake accept --root-cause ID --reason \"…\". "
      + "IDs are in report/report.html, or: retake test --json")

  /// Goldens are accepted by a person, not in CI.
  package static let acceptInCI = inCI(
    "no golden can be accepted in CI", "Accept on your own machine and commit Goldens/")

  package static let rejectInCI = inCI(
    "no pending golden can be rejected in CI",
    "CI keeps no pending goldens; reject on your own machine: retake test, then retake reject")

  package static let removeInCI = inCI(
    "no golden can be removed in CI",
    "Remove them on your own machine: retake golden list --stale --remove; and commit Goldens/. "
      + "Without --remove, CI lists them and ends with 5")

  package static let calibrateInCI = inCI(
    "no tolerance can be written in CI",
    "Calibrate on your own machine and commit retake.yml; in CI add --dry-run, which only prints")

  package static let syncInCI = inCI(
    "no golden can be written in CI",
    "Run retake golden sync-rules on your own machine and commit Goldens/; in CI add --dry-run, "
      + "which only prints")

  package static let labelInCI = inCI(
    "no labels can be corrected in CI", "Correct them on your own machine and commit Labels/")

  private static func inCI(_ message: String, _ advice: String) -> Self {
    Self("suite.accept.inCI", message, advice: advice)
  }

  package static func noGolden(path: String) -> Self {
    Self(
      "suite.diff.noGolden", "this is neither a golden nor a run", at: path,
      advice: "Name a golden as Goldens/SESSION/CASE. " + Self.makeRun)
  }

  package static func damagedRun(path: String, cause: String) -> Self {
    Self(
      "suite.diff.damagedRun", "the file of this run cannot be read", cause: cause, at: path,
      advice: makeRun)
  }

  /// git has no such revision, cannot read it, or the folder is not in a git repository.
  package static func noRevision(_ name: String, cause: String) -> Self {
    Self(
      "suite.diff.noRevision", "git cannot read revision '\(name)' of this project",
      cause: cause, advice: "List the revisions: git log --oneline")
  }

  /// A tolerance cannot cover the difference.
  package static func notFitted(_ key: String, cause: String, isImage: Bool = false) -> Self {
    Self(
      "suite.fit.notNumbers", "the runs of \(key) differ in more than numbers", cause: cause,
      advice: isImage
        ? "The limits of images are not fitted. Write psnrMin, ssimMin, densestMax or rmsMax of the "
          + "sink into retake.yml, then: retake golden sync-rules"
        : "Fix that first, or look at it: retake diff GOLDEN RUN")
  }

  /// No report exists at that path.
  package static func noReport(path: String) -> Self {
    Self(
      "suite.report.none", "there is no report here", at: path,
      advice: "Make one with: retake test --report report")
  }

  package static func noFile(path: String) -> Self {
    Self(
      "suite.record.noFile", "there is no such file", at: path,
      advice: "Record a file, or a drawn scene: retake record synthetic:figures")
  }

  /// Only files have tracks to choose from.
  package static func tracksOfFiles(_ name: String) -> Self {
    Self(
      "suite.record.tracks", "'\(name)' has one track; --track chooses among a file's",
      advice: "Leave out --track", kind: .usage)
  }

  /// An option that only a synthetic scene, and for some options a camera, supports.
  package static func sceneOnly(_ option: String, of name: String) -> Self {
    Self(
      "suite.record.sceneOnly", "'\(name)' brings its own images; \(option) has no effect",
      advice: option == "--seed"
        ? "Leave it out: only a drawn scene (synthetic:figures) has a seed"
        : "Leave \(option) out: drawn scenes (synthetic:figures) and cameras (/dev/video0) "
          + "have it",
      kind: .usage)
  }

  /// Two outputs of one run would be mixed.
  package static func sameOutput(_ path: String) -> Self {
    Self(
      "suite.output.same",
      path == "-"
        ? "standard output can take only one stream" : "two outputs of the run have the same file",
      // Standard output is not a file that could be shown as the place.
      at: path == "-" ? nil : path, advice: "Name a different file for each", kind: .usage)
  }

  /// An output would overwrite an input of the run.
  package static func outputOverInput(path: String, input: String) -> Self {
    Self(
      "suite.output.overInput", "'\(path)' would be written over \(input)",
      advice: "Name a file outside of sessions, goldens and input files")
  }

  package static func noMetadata(pipeline: String) -> Self {
    Self(
      "suite.metadata.none", "the pipeline '\(pipeline)' has no metadata sink",
      advice: "Add {\"id\": \"analytics\", \"kind\": \"metadata\"} to its nodes, "
        + "and an edge to it")
  }

  /// A video is drawn over the frames of a session, but the pipeline reads no session.
  package static func overlaySession(pipeline: String) -> Self {
    Self(
      "suite.overlay.noSession",
      "the pipeline '\(pipeline)' reads no session that results could be drawn over",
      advice: "Name a session, and a pipeline with a node of kind 'session': "
        + "retake replay SESSION --pipeline P --overlay FILE")
  }

  package static func notMetadata(_ name: String, known: [String]) -> Self {
    Self(
      "suite.metadata.otherNode", "'\(name)' is not a metadata sink",
      advice: Suggestion.advice(for: name, among: known))
  }

  /// A process that verify started did not complete its work.
  package static func verifyProcessFailed(condition: String, cause: String) -> Self {
    Self(
      "suite.verify.infrastructure", "infrastructure: no result from '\(condition)'",
      cause: cause,
      advice: "Run it again; if it fails again, a stage cannot run under the condition: "
        + "see its last words")
  }

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

  package static let makeRun =
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
