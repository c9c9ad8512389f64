import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeRuntime
import RetakeStages

/// Writes the rules of retake.yml into accepted goldens, and the documents of their pipelines next to
/// them: what `retake golden adopt` does.
///
/// A golden is judged by the rules that it was accepted with, so that a change of retake.yml changes
/// no verdict unseen. Goldens of before documents were kept get one where the pipeline is the same.
public struct GoldenAdoption {
  public struct Item: Hashable, Sendable, Codable {
    /// `session/case`.
    public var key: String
    /// Each difference, such as `boxes.position: 0 → 0.5`.
    public var changes: [String]
    /// Whether results have to be written again: the next test leaves them pending.
    public var needsResults: Bool
    /// Why the golden still has no pipeline.json.
    public var note: String?
  }

  /// One golden, and what is done with it.
  private struct Work {
    var folder: GoldenFolder
    var item: Item
    /// The new rules, where they are others.
    var rules: CompareRules?
    /// The golden's pipeline, and the alternates' where it is theirs.
    var pipeline: PipelineRecord?
  }

  public var project: Project
  /// The stages that pipelines are made of.
  public var registry = StageRegistry.builtIn
  /// Pipelines that the program brings itself.
  public var pipelines: [Pipeline] = []
  public var selection: Selection
  public var goldens: String?
  /// Whether documents are added and all rules stay as they are.
  public var leavesRules = false
  public var isCI = false

  public init(project: Project, selection: Selection) {
    (self.project, self.selection) = (project, selection)
  }

  /// - Returns: One item for each golden whose rules differ, or that has no pipeline.json. A selected
  ///   case without a golden has none: its first golden gets both by itself.
  /// - Throws: `SuiteError` for a selection that is not there; `noGoldenYet` if no selected case has a
  ///   golden; in CI, unless it is a dry run; `GoldenError` for a golden that is damaged or cannot
  ///   be written. Nothing is written if one of the goldens is damaged.
  public func run(isDryRun: Bool = false) throws -> [Item] {
    guard !isCI || isDryRun else { throw SuiteError.acceptInCI }
    let library = GoldenLibrary(root: URL(fileURLWithPath: goldens ?? project.goldens))
    var found: [Work] = []
    var goldenCount = 0
    for selected in try selection.resolve(in: project) {
      try library.requireOwn(selected.key)
      let folder = library.folder(selected.key)
      guard folder.exists else { continue }
      goldenCount += 1
      // Reads all of it: what is damaged gets no new rules.
      if !leavesRules { _ = try GoldenComparator(golden: folder, actual: folder).compare() }
      var work = try self.work(selected.key.description, folder)
      try addPipeline(of: selected.definition, to: &work)
      if !work.item.changes.isEmpty || work.item.note != nil { found.append(work) }
    }
    guard goldenCount > 0 else { throw SuiteError.noGoldenYet }
    if !isDryRun {
      for work in found { try write(work) }
    }
    return found.map(\.item)
  }

  private func write(_ work: Work) throws(GoldenError) {
    if let rules = work.rules {
      try work.folder.setRules(rules, budgets: project.budgets, fitted: [])
    }
    guard let pipeline = work.pipeline else { return }
    for folder in [work.folder] + work.folder.alternates() where folder.exists {
      _ = try folder.adopt(pipeline)
    }
  }

  /// Finds out what becomes of the pipeline's document, and says it.
  private func addPipeline(of definition: CaseDefinition, to work: inout Work) throws {
    let folders = try ([work.folder] + work.folder.alternates()).filter { folder in
      try folder.exists && folder.lacksPipeline()
    }
    guard !folders.isEmpty else { return }
    let record: PipelineRecord
    do {
      record = PipelineRecord(
        try project.pipeline(definition.pipeline, catalog: registry, given: pipelines))
    } catch let error as any CodedError {
      work.item.note = "no pipeline.json is added: \(error.message)"
      return
    }
    for folder in folders {
      switch try folder.adopt(record, isDryRun: true) {
      case .present: continue
      case .added:
        work.pipeline = record
        let name = folder == work.folder ? "" : "\(folder.url.lastPathComponent)/"
        work.item.changes.append("\(name)pipeline.json: none → \(record.summary)")
      case .otherPipeline:
        work.item.note =
          "no pipeline.json is added: the pipeline is not the golden's any more; the next "
          + "'retake accept' writes it"
      case .tooLarge:
        work.item.note = "no pipeline.json is added: the pipeline's document is too large"
      }
    }
  }

  private func work(_ key: String, _ folder: GoldenFolder) throws(GoldenError) -> Work {
    var work = Work(folder: folder, item: Item(key: key, changes: [], needsResults: false))
    guard !leavesRules else { return work }
    let manifest = try folder.manifest()
    let rules = self.rules(for: manifest)
    for sink in manifest.compare.bySink.keys.sorted() {
      let (old, new) = (manifest.compare.rule(for: sink), rules.rule(for: sink))
      work.item.changes += old.changes(to: new).map { "\(sink).\($0)" }
      if old.order != new.order || old.pictureEvery != new.pictureEvery {
        work.item.needsResults = true
      }
    }
    work.item.changes += manifest.budgets.changes(to: project.budgets)
    if !work.item.changes.isEmpty { work.rules = rules }
    return work
  }

  /// The project's rules for the golden's own sinks. One that retake.yml says nothing of keeps the
  /// mode that suits what it receives; rules for the sinks of other pipelines are none of its own.
  private func rules(for manifest: GoldenManifest) -> CompareRules {
    let rules = manifest.compare.bySink.map { sink, rule in
      (sink, project.compare.rule(for: sink, suited: rule.mode))
    }
    return CompareRules(Dictionary(rules, uniquingKeysWith: { first, _ in first }))
  }
}
