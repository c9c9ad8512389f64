import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph

/// Copies the rules of retake.yml into accepted goldens, and adds the documents of their pipelines.
/// Implements `retake golden sync-rules`.
///
/// A golden is judged by the rules that it was accepted with, so that a change of retake.yml does
/// not change a verdict unnoticed. A golden from before documents were stored gets one if the
/// pipeline is the same.
package struct GoldenRuleSync {
  package struct Item: Hashable, Sendable, Codable {
    /// `session/case`.
    package var key: String
    /// Each difference, such as `boxes.position: 0 → 0.5`.
    package var changes: [String]
    /// Whether the results must be written again. The next test then leaves them pending.
    package var needsResults: Bool
    /// Why the golden still has no pipeline.json.
    package var note: String?
  }

  /// A golden, and the rules and the pipeline that are added to it.
  private struct Work {
    var folder: GoldenFolder
    var item: Item
    /// The new rules, if they differ.
    var rules: CompareRules?
    /// The golden's pipeline, also for alternates with the same pipeline.
    var pipeline: PipelineRecord?
  }

  package var project: Project
  package var selection: Selection
  package var goldens: String?
  /// Whether documents are added but rules stay unchanged.
  package var leavesRules = false
  package var isCI = false

  package init(project: Project, selection: Selection) {
    (self.project, self.selection) = (project, selection)
  }

  /// - Returns: One item for each golden whose rules differ, or that has no pipeline.json. A
  ///   selected case without a golden has no item: its first golden gets both when it is accepted.
  /// - Throws: `SuiteError` for a selection that does not exist; `noGoldenYet` if no selected case
  ///   has a golden; `syncInCI` in CI, unless it is a dry run; `GoldenError` for a golden that is
  ///   damaged or cannot be written. If a golden is damaged, no golden is written.
  package func run(isDryRun: Bool = false) throws -> [Item] {
    guard !isCI || isDryRun else { throw SuiteError.syncInCI }
    let library = GoldenLibrary(root: URL(fileURLWithPath: goldens ?? project.goldens))
    var found: [Work] = []
    var goldenCount = 0
    for selected in try selection.resolve(in: project) {
      try library.requireOwn(selected.key)
      let folder = library.folder(selected.key)
      guard folder.exists else { continue }
      goldenCount += 1
      // Reads every file of the golden: a damaged golden gets no new rules.
      if !leavesRules { _ = try GoldenComparator(golden: folder, actual: folder).compare() }
      var work = try self.work(selected.key.description, folder)
      try addPipeline(of: selected.definition, to: &work)
      if !work.item.changes.isEmpty || work.item.note != nil { found.append(work) }
    }
    guard goldenCount > 0 else {
      throw SuiteError(
        "suite.adopt.noGolden", "no selected case has a golden",
        advice: "Make them: retake test, then: retake accept --reason \"first golden\"")
    }
    // After all goldens were read, so that a damaged one leaves the others unchanged.
    if !isDryRun {
      for work in found { try write(work) }
    }
    return found.map(\.item)
  }

  private func write(_ work: Work) throws {
    if let rules = work.rules {
      let kept = try work.folder.manifest().fits(keptBy: rules)
      try work.folder.setRules(rules, budgets: project.budgets, fitted: kept)
    }
    guard let pipeline = work.pipeline else { return }
    // An alternate is a complete golden: its document is checked against its own golden.yml.
    for folder in [work.folder] + work.folder.alternates() where folder.exists {
      _ = try folder.adopt(pipeline)
    }
  }

  /// Determines whether a pipeline document is added, and stores the reason if it is not.
  private func addPipeline(of definition: CaseDefinition, to work: inout Work) throws {
    let folders = try ([work.folder] + work.folder.alternates()).filter { folder in
      try folder.exists && folder.lacksPipeline()
    }
    guard !folders.isEmpty else { return }
    let record: PipelineRecord
    do {
      record = PipelineRecord(try project.pipeline(definition.pipeline))
    } catch let error as any CodedError {
      // Rules do not depend on the pipeline, so they are adopted even if it cannot be read.
      work.item.note = "no pipeline.json is added: \(error.message)"
      return
    }
    for folder in folders {
      // A dry run: the document is written when all goldens were read.
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

  private func work(_ key: String, _ folder: GoldenFolder) throws -> Work {
    var work = Work(folder: folder, item: Item(key: key, changes: [], needsResults: false))
    guard !leavesRules else { return work }
    let manifest = try folder.manifest()
    let images = try manifest.compare.bySink.keys.filter { try Self.hasImages(folder, at: $0) }
    let rules = self.rules(for: manifest, images: Set(images))
    for sink in manifest.compare.bySink.keys.sorted() {
      let (old, new) = (manifest.compare.rule(for: sink), rules.rule(for: sink))
      work.item.changes += old.changes(to: new).map { "\(sink).\($0)" }
      // Both decided how the results were written. Files that were sorted, or that lack images,
      // cannot be compared by such a rule.
      if old.order != new.order || old.pictureEvery != new.pictureEvery {
        work.item.needsResults = true
      }
    }
    work.item.changes += manifest.budgets.changes(to: project.budgets)
    if !work.item.changes.isEmpty { work.rules = rules }
    return work
  }

  private static func hasImages(_ folder: GoldenFolder, at sink: String) throws -> Bool {
    var found = false
    _ = try folder.eachOutcome(at: sink) { _, lines in
      found = found || lines.contains { $0.isImage }
    }
    return found
  }

  /// The project's rules for the golden's own sinks. A sink without a rule in retake.yml keeps the
  /// mode that suits the values it receives, and a calibrated tolerance stays unless retake.yml
  /// states that tolerance. Rules for sinks of other pipelines are not used.
  ///
  /// - Parameter images: The sinks with images in the golden: retake.yml may have got a rule
  ///   `pictures`, or lost it.
  private func rules(for manifest: GoldenManifest, images: Set<String>) -> CompareRules {
    let rules = manifest.compare.bySink.map { sink, rule in
      let isImages = images.contains(sink) && (rule.mode == .exact || rule.mode == .pictures)
      let new = project.compare.rule(
        for: sink, suited: isImages ? project.compare.imageMode : rule.mode,
        hasImages: images.contains(sink))
      return (sink, manifest.calibrated(new, for: sink))
    }
    return CompareRules(Dictionary(rules, uniquingKeysWith: { first, _ in first }))
  }
}

extension ResultLine {
  fileprivate var isImage: Bool {
    switch self {
    case .picture: true
    case .observation(let item): if case .image = item.content { true } else { false }
    default: false
    }
  }
}
