import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden

/// Writes the rules of retake.yml into accepted goldens: what `retake golden adopt` does.
///
/// A golden is judged by the rules that it was accepted with, so that a change of retake.yml changes
/// no verdict unseen.
public struct GoldenAdoption {
  public struct Item: Hashable, Sendable, Codable {
    /// `session/case`.
    public var key: String
    /// Each difference, such as `boxes.position: 0 → 0.5`.
    public var changes: [String]
    /// Whether results have to be written again: the next test leaves them pending.
    public var needsResults: Bool
  }

  public var project: Project
  public var selection: Selection
  public var goldens: String?
  public var isCI = false

  public init(project: Project, selection: Selection) {
    (self.project, self.selection) = (project, selection)
  }

  /// - Returns: One item for each golden whose rules differ. A selected case without a golden has
  ///   none: its first golden gets the rules by itself.
  /// - Throws: `SuiteError` for a selection that is not there; `noGoldenYet` if no selected case has a
  ///   golden; in CI, unless it is a dry run; `GoldenError` for a golden that is damaged or cannot
  ///   be written. Nothing is written if one of the goldens is damaged.
  public func run(isDryRun: Bool = false) throws -> [Item] {
    guard !isCI || isDryRun else { throw SuiteError.acceptInCI }
    let library = GoldenLibrary(root: URL(fileURLWithPath: goldens ?? project.goldens))
    var found: [(folder: GoldenFolder, item: Item)] = []
    var goldenCount = 0
    for selected in try selection.resolve(in: project) {
      try library.requireOwn(selected.key)
      let folder = library.folder(selected.key)
      guard folder.exists else { continue }
      goldenCount += 1
      // Reads all of it: what is damaged gets no new rules.
      _ = try GoldenComparator(golden: folder, actual: folder).compare()
      let item = item(selected.key.description, try folder.manifest())
      if !item.changes.isEmpty { found.append((folder, item)) }
    }
    guard goldenCount > 0 else { throw SuiteError.noGoldenYet }
    if !isDryRun {
      for (folder, _) in found {
        try folder.setRules(
          rules(for: try folder.manifest()), budgets: project.budgets, fitted: [])
      }
    }
    return found.map(\.item)
  }

  /// A golden has the rule of each of its sinks, with the mode that suits what the sink receives.
  private func rules(for manifest: GoldenManifest) -> CompareRules {
    var rules = manifest.compare
    for (sink, old) in rules.bySink {
      rules.bySink[sink] = project.compare.rule(for: sink, suited: old.mode)
    }
    return rules
  }

  private func item(_ key: String, _ manifest: GoldenManifest) -> Item {
    let (old, new) = (manifest.compare.bySink, rules(for: manifest).bySink)
    var item = Item(key: key, changes: [], needsResults: false)
    for sink in old.keys.sorted() {
      guard let old = old[sink], let new = new[sink] else { continue }
      item.changes += old.changes(to: new).map { "\(sink).\($0)" }
      if old.order != new.order || old.pictureEvery != new.pictureEvery {
        item.needsResults = true
      }
    }
    item.changes += manifest.budgets.changes(to: project.budgets)
    return item
  }
}
