import RetakeCompare
import RetakeCore
import RetakeReport

/// Turns case results into the report document.
struct ReportBuilder {
  /// The most images of all cases together, so that the report stays small.
  static let picturesMax = 24
  /// The most images of one case.
  static let picturesPerCaseMax = 12

  private let shell: Shell
  /// The folder of goldens from the command line, for the commands that the report suggests.
  private let goldens: String?
  /// The cases that the project defines.
  private let cases: [CaseDefinition]
  /// Whether the report is made in CI, where no result can be accepted.
  let isCI: Bool
  /// The name of the running program: a program with its own stages has another name.
  private let program: String
  private var picturesLeft = picturesMax
  /// The suite that was run, for the commands that run its cases again; `nil` for the default.
  var suite: String?

  init(
    project: Project, goldens: String?, program: String = Tool.name, isCI: Bool = false
  ) {
    self.isCI = isCI
    shell = Shell(project: project)
    self.program = shell.word(program)
    cases = project.cases
    self.goldens = goldens
  }

  mutating func makeCase(_ result: CaseResult) -> ReportCase {
    var pictures = FrameImages(result: result)
    if result.comparison.labels != nil { pictures.labels = try? CaseLabels(shell.project, result) }
    let frames = chooseImages(result, pictures)
    // Decoded before boxes are placed: a frame may have another shape than its track.
    let (inputs, shapes) = pictures.inputs(frames)
    let places = BoxPlaces(result, frames: shapes)
    var item = ReportCase(
      result.comparison, session: result.selected.sessionName,
      name: result.selected.definition.name,
      pipeline: result.pipeline?.name ?? result.selected.definition.pipeline,
      mode: result.selected.definition.mode.rawValue,
      graph: result.pipeline.map { ReportGraph($0) },
      tracks: result.tracks.map { track in
        ReportTrack(
          track: track.track, width: track.width, height: track.height, frames: track.frameCount,
          timeBase: track.timeBase)
      }, classes: result.classNames, place: places.place)
    item.notes += places.notes(on: result.comparison.findings)
    item.error = result.error.map { ReportProblem($0) }
    item.pending = result.pendingIdentity.map { "\($0)" }
    describeRun(result, &item)
    place(result, &item)
    if let manifest = try? result.golden.manifest() { item.describe(manifest) }
    if result.comparison.verdict == .changed { CaseTimelines(result).fill(&item.timelines) }
    item.pictures = pictures.complete(inputs, places)
    let strips = SensorStrips(result).strips(of: frames)
    item.sensors = strips.isEmpty ? nil : strips
    // Chosen first and cut then, so that the merged report of several runs can be cut in the same
    // way.
    picturesLeft -= item.keepPictures(ofFrames: picturesLeft)
    // A single root cause is accepted with the complete result, and the pipeline's document with it
    // (docs/comparing.md).
    let isAlone = item.rootCauses.count == 1
    for index in item.rootCauses.indices {
      let root = isAlone ? nil : item.rootCauses[index].id
      item.rootCauses[index].commands = commands(result, accepting: root)
    }
    if item.rootCauses.isEmpty { item.commands = commands(result) }
    if let note = noteOnRepeated(result) { item.notes.append(note) }
    return item
  }

  /// A hint for a case that passes only because of its tolerances although the two runs have no
  /// known difference. A golden has no digest of the program's code, so the note states this as a
  /// condition.
  private func noteOnRepeated(_ result: CaseResult) -> String? {
    let comparison = result.comparison
    let definition = result.selected.definition
    guard comparison.verdict == .passed, comparison.counts.withinTolerance > 0,
      // `verify` reads sessions only.
      result.isRepeated, definition.pipeline != "-", result.selected.sessionRead != nil
    else { return nil }
    let verify =
      "\(program) verify \(arguments(result))"
    return "\(comparison.counts.withinTolerance) of "
      + "\(counted(comparison.counts.compared, "frame")) differ "
      + "within the tolerances, and the pipeline and the libraries are the golden's: if the "
      + "program did not change either, a stage may not be deterministic. Check it with: \(verify)"
  }

  /// The pipeline's document, and the line of each root cause's stage in it.
  private func place(_ result: CaseResult, _ item: inout ReportCase) {
    let project = shell.project
    guard let file = project.pipelineFile(of: result.selected.definition.pipeline),
      file.hasPrefix(project.folder + "/"),
      let data = try? RegularFile.head(file, links: .followed, count: 1 << 20)
    else { return }
    item.document = String(file.dropFirst(project.folder.utf8.count + 1))
    let lines = String(decoding: data, as: UTF8.self).split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline
    ).map { $0.filter { !$0.isWhitespace } }
    for index in item.rootCauses.indices {
      guard let stage = item.rootCauses[index].stage else { continue }
      item.rootCauses[index].line = lines.firstIndex { $0.contains("\"id\":\"\(stage)\"") }
        .map { $0 + 1 }
    }
  }

  private func describeRun(_ result: CaseResult, _ item: inout ReportCase) {
    guard let summary = result.summary else { return }
    item.run = ReportRun(
      workers: summary.workers, wallSeconds: summary.wallSeconds,
      framesPerSecond: summary.framesPerSecond, costsRecorded: summary.costs.recorded,
      costsModelled: summary.costs.modelled)
    item.run?.live = summary.live
    let nodes = result.pipeline?.nodes ?? []
    let sources = nodes.filter { $0.stage.signature.role == .source }.map(\.id)
    item.notes += summary.failureLines { !sources.contains($0.node) }
    let golden = try? result.golden.manifest().summary
    item.decisionDigest = TextPair(
      golden: golden.map { "\($0.decisionDigest)" }, actual: "\(summary.decisionDigest)")
    item.resultDigest = TextPair(
      golden: golden.map { "\($0.resultDigest)" }, actual: "\(summary.resultDigest)")
    let actual = ReportLedger(
      summary.frames, lostBeforeCapture: summary.lostBeforeCapture,
      payloadMissing: summary.payloadMissing)
    item.ledgers = [
      LedgerPair(
        sink: result.pipeline?.primarySink, golden: goldenLedger(result, actual), actual: actual)
    ]
  }

  /// The counts of a golden that was compared. Frames without pixels are counted from the session,
  /// which is then the same.
  private func goldenLedger(_ result: CaseResult, _ actual: ReportLedger) -> ReportLedger? {
    guard [.passed, .changed].contains(result.comparison.verdict),
      let golden = try? result.golden.manifest().summary, let summary = result.summary
    else { return nil }
    // Equal digests are equal runs, so the golden's files need not be read.
    if golden.resultDigest == summary.resultDigest,
      golden.decisionDigest == summary.decisionDigest
    {
      return actual
    }
    guard let pipeline = result.pipeline, let sink = pipeline.primarySink,
      let found = try? result.golden.ledger(
        sink: sink, source: pipeline.flattened().mainSources()[sink])
    else { return nil }
    return ReportLedger(
      found.frames, lostBeforeCapture: found.lostBeforeCapture,
      payloadMissing: actual.payloadMissing)
  }

  private func chooseImages(_ result: CaseResult, _ pictures: FrameImages) -> [FrameID] {
    guard picturesLeft > 0,
      result.comparison.findingCount > 0 || result.comparison.labels != nil
    else { return [] }
    return pictures.choose(Self.picturesPerCaseMax)
  }

  /// The options that make exactly this case: a case of the project by its name and the options
  /// that the command line changed; any other case by its pipeline and every option that is not the
  /// default.
  private func caseOptions(_ definition: CaseDefinition) -> String {
    // All options are compared: a case with other options, such as a seed of the command line, is
    // not the project's case of the same name.
    if cases.contains(definition) { return "--pipeline \(definition.name)" }
    if let base = base(of: definition) {
      return "--pipeline \(base.name)" + options(of: definition, over: base)
    }
    var text = "--pipeline \(shell.path(definition.pipeline))"
    if definition.pipeline.hasPrefix(ProgramPipeline.prefix) {
      text = "--pipeline \(shell.word(definition.pipeline)) --allow-processes"
    }
    let plain = CaseDefinition(name: definition.name, pipeline: definition.pipeline)
    return text + options(of: definition, over: plain)
  }

  /// The project's case that options of the command line made this case of.
  private func base(of definition: CaseDefinition) -> CaseDefinition? {
    cases.first { base in
      base.name == definition.name && base.pipeline == definition.pipeline
        && base.precision == definition.precision
        && definition.overrides.starts(with: base.overrides)
    }
  }

  private func options(of definition: CaseDefinition, over base: CaseDefinition) -> String {
    var text = ""
    if let source = definition.source { text += " --source \(shell.word(source.text))" }
    if definition.mode != base.mode { text += " --mode \(definition.mode.rawValue)" }
    // In every-frame mode stages have no costs, and the options of costs are refused.
    let areCostsTheirOwn =
      definition.costs != base.costs || definition.strictCosts != base.strictCosts
    if definition.mode != .everyFrame, areCostsTheirOwn {
      text += " --costs \(shell.word("\(definition.costs)"))"
      if definition.strictCosts { text += " --strict-costs" }
    }
    if definition.seed != base.seed { text += " --seed \(definition.seed)" }
    for (node, track) in definition.tracks.sorted(by: { $0.key < $1.key })
    where base.tracks[node] != track {
      text += " --track \(node)=\(track)"
    }
    for entry in definition.overrides.dropFirst(base.overrides.count) {
      text += " --override \(shell.word(entry.text))"
    }
    return text
  }

  private func test(_ result: CaseResult) -> String {
    let definition = result.selected.definition
    return cases.contains(definition)
      ? "\(program) test \(shell.word("\(result.selected.key)"))"
        + (suite.map { " --suite \(shell.word($0))" } ?? "")
      : "\(program) test \(arguments(result))"
  }

  /// The words that name the case on a command line: the session, unless the case has its own
  /// frames, and the options.
  private func arguments(_ result: CaseResult) -> String {
    let session = result.selected.sessionRead.map { shell.session($0) + " " } ?? ""
    return session + caseOptions(result.selected.definition)
  }

  /// - Parameter root: The id of one of several root causes, to accept it alone.
  private func commands(
    _ result: CaseResult, accepting root: String? = nil
  ) -> [ReportCommand] {
    let definition = result.selected.definition
    // The placeholder of a stale golden, whose case is not defined: see `SuiteRun.staleKeys`.
    guard definition.pipeline != "-" else { return [] }
    let session = shell.session(result.selected.session)
    switch result.comparison.verdict {
    case .changed, .missing, .notComparable:
      let replay = "\(program) replay \(arguments(result))"
      var accept = "\(program) accept \(result.selected.key)"
      if let goldens { accept += " --goldens \(shell.path(goldens))" }
      if let root { accept += " --root-cause \(shell.word(root))" }
      // Without it, `accept` refuses to replace a golden with another description.
      if result.comparison.verdict == .notComparable {
        accept += result.comparison.isOtherDevice ? " --alternate" : " --replace"
      }
      // Labels score complete results.
      let isBetter = root == nil && result.comparison.labels?.change?.word == .better
      accept += isBetter ? " --if-better" : " --reason \"why it is right\""
      var commands = [ReportCommand("Replay it", replay)]
      // CI writes no pending result next to the golden, so the user produces the result again on
      // the machine where it is accepted.
      if isCI { commands.append(ReportCommand("Test it on your machine", test(result))) }
      if result.comparison.isOverBudgetAlone {
        // Accepting changes no budget, so the next run would fail again. A budget that cannot be
        // checked has no figure.
        let isExceeded = result.comparison.budgets.contains { !$0.isMet }
        commands.append(
          ReportCommand(
            "Or \(isExceeded ? "change" : "remove") 'budgets' in retake.yml, then sync them",
            "\(program) golden sync-rules \(result.selected.key)"
              + (goldens.map { " --goldens \(shell.path($0))" } ?? "")))
      } else if result.pendingRefusal == nil {
        commands.append(
          ReportCommand(isCI ? "Then accept it there" : "Accept the new result", accept))
      }
      if result.comparison.isOtherDevice {
        commands.append(
          ReportCommand(
            "Or fit a tolerance for both devices",
            "\(program) golden calibrate \(arguments(result))"))
      }
      return commands
    // If the error already names the command, the report does not repeat it.
    case .errored
    where result.error?.isOfSession == true
      && result.error?.advice?.contains("session check") != true:
      return [ReportCommand("Examine the session", "\(program) session check \(session)")]
    case .passed, .stale, .errored: return []
    }
  }
}

extension Comparison {
  /// Whether the results are the golden's, and only a budget is exceeded.
  fileprivate var isOverBudgetAlone: Bool {
    verdict == .changed && !findings.isEmpty && findings.allSatisfy { $0.kind == .budget }
  }
}

extension CodedError {
  /// Whether the error is about the session, so that checking the session returns more information.
  fileprivate var isOfSession: Bool {
    ["session.", "store.", "media."].contains { code.hasPrefix($0) }
  }
}

/// Arguments and paths as a shell in the project's folder needs them.
struct Shell {
  let project: Project

  func word(_ text: String) -> String {
    // 45 to 58 are `-`, `.`, `/`, the digits and `:`.
    let isPlain = text.utf8.allSatisfy { byte in
      (97...122).contains(byte) || (65...90).contains(byte) || (45...58).contains(byte)
        || byte == 95
    }
    return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
  }

  /// The shortest path that can be typed in the project's folder.
  func path(_ path: String) -> String {
    let prefix = project.folder + "/"
    return word(path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path)
  }

  /// A session by name if it is stored in Recordings, else by path.
  func session(_ folder: String) -> String {
    let prefix = project.recordings + "/"
    return folder.hasPrefix(prefix) ? word(String(folder.dropFirst(prefix.count))) : path(folder)
  }
}
