import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
package import RetakeReplay
package import RetakeRuntime
import RetakeStages

/// Replays one case with worse and worse frames, and compares each replay with the case's golden.
package struct StressRun {
  package var project: Project
  /// `SESSION/CASE`, or a session with one case.
  package var name: String
  package var axes: [StressAxis]
  package var seed: UInt64 = 1
  package var options = RunOptions()
  /// The folder of the goldens; the project's if `nil`.
  package var goldens: String?
  /// The folder for the documents of the perturbed pipelines; they are not written if `nil`.
  package var documents: String?
  package var budgets: [StressReport.Budget] = []
  /// See `ReplayJob.openCache`.
  package var openCache: (_ note: (String) -> Void) throws -> CacheFolder? = { _ in nil }
  /// Called with the number of finished replays and the number of all replays.
  package var progress: (Int, Int) -> Void = { _, _ in }
  /// Receives notes for the user, in sentences.
  package var note: (String) -> Void = { _ in }

  package init(project: Project, name: String, axes: [StressAxis]) {
    (self.project, self.name, self.axes) = (project, name, axes)
  }

  /// - Throws: `SuiteError` for a case that does not exist, for several, or without a golden;
  ///   `GoldenError`; `RuntimeError.interrupted`. Any other error of a replay becomes its row.
  package func run() throws -> StressReport {
    let selected = try selectedCase()
    let golden = try acceptedGolden(of: selected)
    let pipeline = try project.pipeline(selected.definition.pipeline)
    let cells =
      [Cell(axis: nil, strength: 0)]
      + axes.flatMap { axis in
        axis.strengths.map { Cell(axis: axis, strength: $0) }
      }
    if let documents { try project.requireOwn(documents) }
    let scratch = try ScratchFolder.ofRun()
    defer { scratch.remove() }
    let cache = try openCache(note)
    var report = StressReport(
      key: selected.key.description, pipeline: selected.definition.pipeline, seed: seed,
      columns: StressColumn.all.map(\.name), budgets: budgets, rows: [])
    for cell in cells {
      try report.rows.append(
        row(of: cell, selected, pipeline, golden, cache, in: scratch.url))
      progress(report.rows.count, cells.count)
    }
    try report.keepKnownColumns()
    for axis in axes { report.addLimits(of: axis) }
    if report.rows[0].first != nil {
      note(
        "the case differs from its golden also without a perturbation: retake test \(selected.key)")
    }
    return report
  }

  private func selectedCase() throws -> SelectedCase {
    let found = try Selection(sessions: [name]).resolve(in: project)
    guard found.count == 1, let selected = found.first else {
      throw SuiteError(
        "suite.stress.several", "'\(name)' names \(counted(found.count, "case"))",
        advice: "Name one of them: \(found.map(\.key.description).joined(separator: ", "))")
    }
    try selected.check()
    return selected
  }

  private func acceptedGolden(of selected: SelectedCase) throws -> GoldenFolder {
    let library = GoldenLibrary(root: URL(fileURLWithPath: goldens ?? project.goldens))
    let golden = library.folder(selected.key).fitting(PlatformKey.current.description)
    guard golden.exists else {
      throw SuiteError(
        "suite.stress.noGolden", "'\(selected.key)' has no accepted golden",
        advice: "Make one: retake test \(selected.key.description.shellWord), then "
          + "retake accept \(selected.key.description.shellWord) --reason \"first golden\"")
    }
    return golden
  }

  // MARK: One replay

  private struct Cell {
    /// `nil` for the case without a perturbation.
    var axis: StressAxis?
    var strength: Int

    var text: String? { axis.map { StressAxis.text(strength, $0.kind) } }
  }

  private func row(
    of cell: Cell, _ selected: SelectedCase, _ pipeline: Pipeline, _ golden: GoldenFolder,
    _ cache: CacheFolder?, in scratch: URL
  ) throws -> StressReport.Row {
    var definition = selected.definition
    if let override = cell.axis?.override(cell.strength, seed: seed) {
      // Two would have one key.
      definition.overrides.removeAll { $0.key == override.key }
      definition.overrides.append(override)
    }
    let changed = try perturbed(pipeline, cell, selected)
    var row = StressReport.Row(
      perturbation: cell.axis?.kind.rawValue, strength: cell.text, thousandths: cell.strength,
      command: try command(of: cell, changed, definition, selected))
    let folder = scratch.appending(
      path: cell.text.map { "\(row.perturbation ?? "")\($0)" } ?? "none")
    do {
      let result = try replay(
        changed ?? pipeline, definition, selected, golden, cache, to: GoldenFolder(folder))
      for column in StressColumn.all { row.values[column.name] = try column.value(result) }
      row.first = result.firstChange.map { "\($0)" }
      (row.decisionDigest, row.resultDigest) =
        (result.summary.decisionDigest, result.summary.resultDigest)
    } catch RuntimeError.interrupted {
      throw RuntimeError.interrupted
    } catch let error as any CodedError where cell.axis != nil {
      row.problem = error.message
    }
    // One replay can be large.
    try? FileManager.default.removeItem(at: folder)
    return row
  }

  private func replay(
    _ pipeline: Pipeline, _ definition: CaseDefinition, _ selected: SelectedCase,
    _ golden: GoldenFolder, _ cache: CacheFolder?, to folder: GoldenFolder
  ) throws -> StressResult {
    var job = ReplayJob(
      project: project, definition: definition, session: selected.sessionRead)
    job.options = options
    job.openCache = { _ in cache }
    let (replay, reader) = try job.open(pipeline)
    let summary = try GoldenRun.write(
      replay, definition: definition, project: project, reader: reader, to: folder, observers: [])
    var options = GoldenComparator.Options.withImages.interrupted(by: options.isInterrupted)
    // The pipeline and the overrides differ by design.
    options.ignoresKeys = true
    options.findingLimit = 1_000_000
    var result = CaseResult(selected, golden: golden, actual: folder)
    result.pipeline = replay.pipeline
    result.note(replay, reader)
    let comparison = try GoldenComparator(
      golden: golden, actual: folder, options: options,
      labels: try CaseLabels(project, result)?.compare
    ).compare()
    return StressResult(comparison: comparison, summary: summary, golden: golden, actual: folder)
  }

  /// The pipeline with a stage `perturb` after each source; `nil` if the cell needs no such stage.
  private func perturbed(_ pipeline: Pipeline, _ cell: Cell, _ selected: SelectedCase) throws
    -> Pipeline?
  {
    guard let options = cell.axis?.stageOptions(cell.strength, seed: seed) else { return nil }
    let stage = try project.catalog.make(kind: Perturb.kind, options: options)
    var changed = pipeline
    // In the document, because a plain replay of it has no case with steps.
    for index in changed.nodes.indices {
      changed.nodes[index].precision.merge(
        selected.definition.precision[changed.nodes[index].id] ?? [:]
      ) { $1 }
    }
    for source in pipeline.nodes where source.stage.signature.role == .source {
      let known = Set(changed.nodes.map(\.id))
      // Ends: there are fewer nodes than numbers.
      let id = (0...known.count).lazy
        .map { "\(source.id)-perturb\($0 == 0 ? "" : "\($0)")" }.first { !known.contains($0) }
      guard let id, let place = changed.nodes.firstIndex(where: { $0.id == source.id }) else {
        continue
      }
      changed.nodes.insert(PipelineNode(id: id, stage: stage), at: place + 1)
      for index in changed.edges.indices where changed.edges[index].from == source.id {
        changed.edges[index].from = id
      }
      changed.edges.append(PipelineEdge(from: source.id, to: id, capacity: 1))
    }
    return changed
  }

  /// A plain replay where a document or an override says everything, else this stress alone.
  private func command(
    of cell: Cell, _ pipeline: Pipeline?, _ definition: CaseDefinition, _ selected: SelectedCase
  ) throws -> String {
    guard let axis = cell.axis, let text = cell.text else { return "retake test \(selected.key)" }
    var words = ["retake", "replay", selected.sessionName.shellWord, "--pipeline"]
    if let override = axis.override(cell.strength, seed: seed) {
      words += [definition.name.shellWord, "--override", override.text.shellWord]
      return words.joined(separator: " ")
    }
    guard let documents, let pipeline else {
      return "retake stress \(selected.key.description.shellWord) --with "
        + "\("\(axis.kind.rawValue)=\(text)".shellWord) --seed \(seed)"
    }
    let file = "\(documents)/\(axis.kind.rawValue)\(text.replacing("%", with: "")).json"
    try write(PipelineDocument.json(of: pipeline), to: file)
    words.append(file.shellWord)
    if definition.mode == .simulate {
      words += ["--mode", "simulate", "--seed", "\(definition.seed)"]
      if definition.costs != .declared {
        words += ["--costs", definition.costs.description.shellWord]
      }
    }
    for (node, track) in definition.tracks.sorted(by: { $0.key < $1.key }) {
      words += ["--track", "\(node)=\(track)".shellWord]
    }
    for override in definition.overrides { words += ["--override", override.text.shellWord] }
    return words.joined(separator: " ")
  }

  private func write(_ document: JSONValue, to file: String) throws {
    let url = URL(fileURLWithPath: project.path(file))
    do {
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data((document.canonicalText + "\n").utf8).write(to: url, options: .atomic)
    } catch {
      throw SuiteError.notWritable(path: url.path, cause: error.systemText)
    }
  }
}
