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
    var changesRules: Bool
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
  public var isCI = false

  public init(project: Project, selection: Selection) {
    (self.project, self.selection) = (project, selection)
  }

  /// - Returns: One item for each golden whose rules differ, or that has no pipeline.json. A selected
  ///   case without a golden has none: its first golden gets both by itself.
  /// - Throws: `SuiteError` for a selection that is not there; in CI, unless it is a dry run;
  ///   `GoldenError` for a golden that cannot be read or written.
  public func run(isDryRun: Bool = false) throws -> [Item] {
    guard !isCI || isDryRun else { throw SuiteError.acceptInCI }
    let library = GoldenLibrary(root: URL(fileURLWithPath: goldens ?? project.goldens))
    var found: [Work] = []
    for selected in try selection.resolve(in: project) {
      try library.requireOwn(selected.key)
      let folder = library.folder(selected.key)
      guard folder.exists else { continue }
      var work = Work(
        folder: folder, item: item(selected.key.description, try folder.manifest()),
        changesRules: false)
      work.changesRules = !work.item.changes.isEmpty
      try addPipeline(of: selected.definition, to: &work)
      if !work.item.changes.isEmpty || work.item.note != nil { found.append(work) }
    }
    if !isDryRun {
      for work in found { try write(work) }
    }
    return found.map(\.item)
  }

  private func write(_ work: Work) throws(GoldenError) {
    if work.changesRules {
      try work.folder.setRules(project.compare, budgets: project.budgets, fitted: [])
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

  private func item(_ key: String, _ manifest: GoldenManifest) -> Item {
    let (old, new) = (manifest.compare.bySink, project.compare.bySink)
    var item = Item(key: key, changes: [], needsResults: false)
    for sink in Set(old.keys).union(new.keys).sorted() {
      let rules = (old[sink] ?? .standard, new[sink] ?? .standard)
      item.changes += Self.changes(from: rules.0, to: rules.1).map { "\(sink).\($0)" }
      if rules.0.order != rules.1.order || rules.0.pictureEvery != rules.1.pictureEvery {
        item.needsResults = true
      }
    }
    item.changes += Self.changes(from: manifest.budgets, to: project.budgets)
    return item
  }

  private static func changes(from old: SinkRule, to new: SinkRule) -> [String] {
    var changes: [String] = []
    func note(
      _ key: String, _ old: some CustomStringConvertible, _ new: some CustomStringConvertible
    ) {
      if old.description != new.description { changes.append("\(key): \(old) → \(new)") }
    }
    note("mode", old.mode.rawValue, new.mode.rawValue)
    note("order", old.order.rawValue, new.order.rawValue)
    for (key, path) in SinkRule.tolerances {
      note(key.rawValue, old[keyPath: path], new[keyPath: path])
    }
    for (key, path) in SinkRule.counts {
      note(key.rawValue, old[keyPath: path], new[keyPath: path])
    }
    return changes
  }

  private static func changes(
    from old: GoldenManifest.Budgets, to new: GoldenManifest.Budgets
  ) -> [String] {
    let rows: [(String, Int?, Int?)] = [
      ("droppedMax", old.droppedMax, new.droppedMax),
      ("latencyMax", old.latencyMax, new.latencyMax),
      ("latencyP99", old.latencyP99, new.latencyP99),
    ]
    return rows.filter { $0.1 != $0.2 }.map { key, old, new in
      let unit = key == "droppedMax" ? "" : " ns"
      func text(_ value: Int?) -> String { value.map { "\($0)\(unit)" } ?? "none" }
      return "budgets.\(key): \(text(old)) → \(text(new))"
    }
  }
}
