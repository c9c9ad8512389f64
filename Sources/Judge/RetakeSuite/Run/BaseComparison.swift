import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeReplay
import RetakeReport
package import RetakeRuntime
import RetakeSession

/// Replays the pipelines of a revision and the pipelines of the working tree over the same
/// sessions, and compares the results. Implements `retake diff --base`. Goldens are neither read
/// nor written.
///
/// The run of the revision also reads the models, programs and costs of the revision. A case for
/// which that is not possible does not pass, because it read a file that was not compared.
package struct BaseComparison {
  package var project: Project
  /// A git revision: a branch, a tag or a commit.
  package var base: String
  package var selection: Selection
  package var options = RunOptions()
  /// Where the report is written; no report is written if `nil`.
  package var reportFolder: String?
  /// The program name in the commands of the report.
  package var program = Tool.name
  /// Called with the current case, its finished frames and the number of its frames, in both runs.
  package var progress: (String, Int, Int) -> Void = { _, _, _ in }

  package init(project: Project, base: String, selection: Selection) {
    (self.project, self.base, self.selection) = (project, base, selection)
  }

  /// - Throws: `SuiteError` for a selection or a revision that does not exist, and
  ///   `RuntimeError.interrupted`. An error of one case becomes its verdict.
  package func run() throws -> SuiteRun.Outcome {
    let selected = try selection.resolve(in: project)
    if let reportFolder {
      try project.requireOwn(reportFolder)
      try ReportFolder.check(URL(fileURLWithPath: project.path(reportFolder)))
    }
    let scratch = try ScratchFolder.ofRun()
    defer { scratch.remove() }
    // Before the first case: a revision that does not exist is one error, and not the verdict of
    // each case.
    let files = try RevisionFiles(
      base, of: project.folder, scratch: scratch.url,
      isInterrupted: options.isInterrupted ?? { false })
    let inputs = RevisionInputs(project, files)
    let clock = WallClock()
    let start = clock.monotonicNanoseconds
    let results = try selected.map { try compare($0, inputs, scratch.url) }
    let seconds = Double(clock.monotonicNanoseconds - start) / 1e9
    return try report(results, files, seconds: seconds, at: clock.timeText)
  }

  private func compare(
    _ selected: SelectedCase, _ inputs: RevisionInputs, _ scratch: URL
  ) throws -> CaseResult {
    func folder(_ side: String) -> GoldenFolder {
      GoldenFolder(
        root: scratch.appending(path: side), session: selected.key.session,
        testCase: selected.key.testCase)
    }
    var result = CaseResult(selected, golden: folder("base"), actual: folder("change"))
    do {
      try selected.check()
      let change = try project.pipeline(selected.definition.pipeline)
      result.pipeline = change
      // A pipeline that is new in the working tree has no counterpart in the revision, which is a
      // verdict and not an error.
      let baseProject = inputs.base
      guard let base = try inputs.pipeline(of: selected.definition) else {
        result.comparison = Comparison(
          key: selected.key.description, verdict: .missing,
          reasons: ["\(base) has no \(selected.definition.pipeline)"])
        return result
      }
      result.basePipeline = base
      _ = try write(base, selected, baseProject, to: result.golden)
      try inputs.noteDefinition(of: selected.definition)
      let (summary, reader, replay) = try write(change, selected, project, to: result.actual)
      result.summary = summary
      result.note(replay, reader)
      result.classNames = (try? result.actual.chunk(0))?.header.classes.flatMap(\.self) ?? []
      // Only the pixels of `withImages`: this program made both runs, so the code of its stages
      // is not a suspect.
      var comparing = GoldenComparator.Options().interrupted(by: options.isInterrupted)
      comparing.pixels = { ImagePixels(kept: $0) }
      result.comparison = GoldenComparator(
        golden: result.golden, actual: result.actual, options: comparing,
        labels: try CaseLabels(project, result)?.compare
      ).outcome()
      try comparing.checkInterruption()
      result.refusePass(untaken: inputs.takeUntaken(), from: self.base)
    } catch RuntimeError.interrupted {
      // An interruption is about all cases, so it does not become the verdict of one.
      throw RuntimeError.interrupted
    } catch let error as any CodedError {
      // The error of a document may be git's, which was interrupted while it took a file.
      if options.isInterrupted?() == true { throw RuntimeError.interrupted }
      _ = inputs.takeUntaken()
      result.error = error
      result.comparison.reasons = [error.description]
    }
    return result
  }

  private func write(
    _ pipeline: Pipeline, _ selected: SelectedCase, _ project: Project, to folder: GoldenFolder
  ) throws -> (RunSummary, SessionReader?, Replay) {
    var job = ReplayJob(
      project: project, definition: selected.definition, session: selected.sessionRead)
    job.options = options
    let (replay, reader) = try job.open(pipeline)
    let observer = ProgressObserver(total: replay.frameCount) {
      progress(selected.key.description, $0, $1)
    }
    let summary = try GoldenRun.write(
      replay, definition: selected.definition, project: project, reader: reader, to: folder,
      observers: [observer])
    return (summary, reader, replay)
  }

  // MARK: - The report

  private func report(
    _ results: [CaseResult], _ files: RevisionFiles, seconds: Double, at time: String
  ) throws -> SuiteRun.Outcome {
    let statuses = results.map { $0.exitStatus(isCI: true) }
    let status = ExitStatus.strongest(statuses) ?? .nothingCompared
    var builder = ReportBuilder(project: project, goldens: nil, program: program)
    let cases = results.map { withoutAcceptance(builder.makeCase($0)) }
    var document = ReportDocument(
      tool: ReportTool(version: Tool.version), title: "retake diff --base \(base)",
      exit: ReportExit(code: Int(status.rawValue)), cases: cases)
    document.generatedAt = time
    document.environment = [
      EnvironmentRow("files", golden: files.commit, actual: "working tree")
    ]
    document.notes = [
      "Golden stands for \(base), actual for the working tree: pipelines, models, programs and "
        + "costs. Both runs have the working tree's sessions and rules, and this build's stages."
    ]
    document.totals.wallSeconds = seconds
    document.nameCommands(ProgramName(program))
    var outcome = SuiteRun.Outcome(status: status, document: document)
    outcome.writeReport(to: reportFolder, of: project)
    return outcome
  }

  /// Removes the commands that accept: only a pending golden of a test can be accepted.
  private func withoutAcceptance(_ item: ReportCase) -> ReportCase {
    func others(_ commands: [ReportCommand]) -> [ReportCommand] {
      commands.filter { !$0.accepts }
    }
    var item = item
    item.commands = others(item.commands)
    for place in item.rootCauses.indices {
      item.rootCauses[place].commands = others(item.rootCauses[place].commands)
    }
    return item
  }
}

extension CaseResult {
  /// A case does not pass if it read a file that could not be read from the revision.
  fileprivate mutating func refusePass(untaken: [String], from revision: String) {
    guard !untaken.isEmpty else { return }
    let reason =
      "these files differ from \(revision) and were not taken from it: "
      + untaken.joined(separator: ", ")
    guard comparison.verdict == .passed else { return comparison.notes.append(reason) }
    comparison.verdict = .notComparable
    comparison.reasons = [reason]
  }
}
