import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeRuntime

/// Makes pending goldens the accepted ones: what `retake accept` does.
public struct Acceptance {
  /// One pending golden, and what its acceptance changes.
  public struct Item: Hashable, Sendable, Codable {
    /// `session/case`.
    public var key: String
    /// `new` or `changed`.
    public var kind: String
    /// Ids of the root causes that are accepted.
    public var roots: [String]
    /// Frames that change.
    public var frames: Int
  }

  public var project: Project
  public var goldens: String?
  public var pendingFolder: String?
  /// `session`, `session/case`, globs of both; empty is all.
  public var keys: [String] = []
  public var isCI = false

  public init(project: Project) {
    self.project = project
  }

  private var library: GoldenLibrary {
    GoldenLibrary(root: URL(fileURLWithPath: goldens ?? project.goldens))
  }

  /// Accepts what is pending.
  ///
  /// - Parameters:
  ///   - reason: Kept in golden.yml.
  ///   - isDryRun: Says what would be accepted, and changes nothing.
  /// - Throws: `SuiteError.missingReason`, `nothingPending`; `GoldenError`.
  public func run(reason: String, isDryRun: Bool = false) throws -> [Item] {
    let reason = reason.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !reason.isEmpty else { throw SuiteError.missingReason }
    guard !isCI || isDryRun else { throw SuiteError.acceptInCI }
    let pending = pendingFolder.map {
      GoldenLibrary(root: URL(fileURLWithPath: project.path($0)))
    }
    let chosen = try chosen(among: (pending ?? library).pendingKeys())
    var items: [Item] = []
    for key in chosen {
      let golden = library.folder(key)
      let from = (pending ?? library).folder(key).pending
      let (item, acceptance) = Self.look(key, golden, from, reason)
      if !isDryRun { try golden.accept(acceptance, from: from) }
      items.append(item)
    }
    return items
  }

  /// What the patterns fit; each must fit something.
  private func chosen(
    among pending: [GoldenLibrary.Key]
  ) throws(SuiteError) -> [GoldenLibrary.Key] {
    guard !pending.isEmpty else { throw .nothingPending }
    for pattern in keys where !pending.contains(where: { Self.fits(pattern, $0) }) {
      throw .notPending(pattern, known: pending.map(\.description))
    }
    return pending.filter { key in keys.isEmpty || keys.contains { Self.fits($0, key) } }
  }

  private static func fits(_ pattern: String, _ key: GoldenLibrary.Key) -> Bool {
    Glob.matches(pattern, pattern.contains("/") ? key.description : key.session)
  }

  private static func look(
    _ key: GoldenLibrary.Key, _ golden: GoldenFolder, _ pending: GoldenFolder, _ reason: String
  ) -> (Item, GoldenManifest.Acceptance) {
    let date = WallClock().dateText
    guard golden.exists else {
      let frames = (try? pending.manifest().summary.captured) ?? 0
      return (
        Item(key: key.description, kind: "new", roots: [], frames: frames),
        GoldenManifest.Acceptance(at: date, reason: reason, frames: frames)
      )
    }
    let comparison = GoldenComparator(golden: golden, actual: pending).outcome()
    let roots = comparison.roots.map(\.id)
    let frames = comparison.counts.changed + comparison.counts.missing + comparison.counts.inserted
    let largest = comparison.findings.compactMap(\.magnitude).max() ?? 0
    return (
      Item(key: key.description, kind: "changed", roots: roots, frames: frames),
      GoldenManifest.Acceptance(
        at: date, reason: reason, roots: Array(roots.prefix(20)), frames: frames,
        maxError: largest)
    )
  }
}
