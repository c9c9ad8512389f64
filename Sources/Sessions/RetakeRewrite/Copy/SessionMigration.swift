import Foundation
package import RetakeSession
import RetakeStore

/// Copies a session to the current schema; the original is unchanged.
package struct SessionMigration: Sendable {
  /// The current schema of sessions.
  package static let schema = StoreMigration.version

  private let folder: SessionFolder
  private let target: SessionTarget
  private let link: Bool
  private let report: @Sendable (SessionCheck.Progress) -> Bool

  /// - Parameters:
  ///   - link: Link to the media instead of copying it.
  ///   - report: Called with the progress; returning false stops the migration, which then removes
  ///     its files.
  package init(
    of path: String, to target: SessionTarget, link: Bool = false,
    report: @escaping @Sendable (SessionCheck.Progress) -> Bool = { _ in true }
  ) {
    folder = SessionFolder(path: path)
    self.target = target
    self.link = link
    self.report = report
  }

  /// - Returns: nil when the session already has the current schema; no copy is made then.
  /// - Throws: `SessionError`: a newer schema, a database that is open or damaged. A failed
  ///   migration removes its files.
  package func run() throws -> SessionCopyResult? {
    let reader = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
    let store = reader.index.store
    guard store.schemaVersion < Self.schema else {
      // "Nothing to migrate" is reported only for a session that can be used.
      try store.requireWhole()
      return nil
    }
    guard store.isClosed else { throw SessionError.notClosed(folder) }
    // Copied rows get new checksums, which would hide damage of the old rows.
    try SessionClosing.check(store, at: folder.database)
    let digest = try store.digest()
    let destination = try target.folder(for: folder)
    let built = try BuiltSession(destination, digest: digest) { site in
      try StoreMigration.copy(store, to: site.folder.database)
      try MediaCopy(folder: folder, reader: reader, link: link, report: report).run(to: site)
      try site.write(folder.notesText() ?? "# \(folder.name)\n", to: site.folder.notes)
    }
    return built.result(
      at: destination.path,
      notes: ["schema \(store.schemaVersion) became schema \(Self.schema)"])
  }
}
