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
  /// - Throws: `SuiteError` for a selection that is not there; in CI, unless it is a dry run;
  ///   `GoldenError` for a golden that cannot be read or written.
  public func run(isDryRun: Bool = false) throws -> [Item] {
    guard !isCI || isDryRun else { throw SuiteError.acceptInCI }
    let library = GoldenLibrary(root: URL(fileURLWithPath: goldens ?? project.goldens))
    var found: [(folder: GoldenFolder, item: Item)] = []
    for selected in try selection.resolve(in: project) {
      try library.requireOwn(selected.key)
      let folder = library.folder(selected.key)
      guard folder.exists else { continue }
      let item = item(selected.key.description, try folder.manifest())
      if !item.changes.isEmpty { found.append((folder, item)) }
    }
    if !isDryRun {
      for (folder, _) in found {
        try folder.setRules(project.compare, budgets: project.budgets, fitted: [])
      }
    }
    return found.map(\.item)
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
