import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore

/// A copy of a session in the present schema; the old one stays as it is.
public struct SessionMigration: Sendable {
  /// The schema that sessions are written in.
  public static let schema = StoreMigration.version

  private let folder: SessionFolder
  private let target: SessionTarget
  private let link: Bool
  private let report: @Sendable (SessionDoctor.Progress) -> Bool

  /// - Parameters:
  ///   - link: Link to the media rather than copying it.
  ///   - report: Told how far it is; answering false stops it, with nothing left.
  public init(
    of path: String, to target: SessionTarget, link: Bool = false,
    report: @escaping @Sendable (SessionDoctor.Progress) -> Bool = { _ in true }
  ) {
    folder = SessionFolder(path: path)
    self.target = target
    self.link = link
    self.report = report
  }

  /// - Returns: nil when the session has the present schema already; nothing is made then.
  /// - Throws: `SessionError`: a schema of a newer version, a database that is open or damaged.
  ///   Nothing is left behind.
  public func run() throws -> SessionCopyResult? { try make() }

  private func make() throws(SessionError) -> SessionCopyResult? {
    let reader = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
    let store = reader.index.store
    guard store.schemaVersion < Self.schema else {
      // "Nothing to migrate" is said of a session that can be used.
      try fromStore { () throws(StoreError) in try store.requireWhole() }
      return nil
    }
    guard store.isClosed else { throw .notClosed(folder) }
    try SessionClosing.check(store, at: folder.database)
    let digest = try fromStore { () throws(StoreError) in try store.digest() }
    let destination = try target.folder(for: folder)
    let built = try BuiltSession(destination, digest: digest) { (site) throws(SessionError) in
      _ = try fromStore { () throws(StoreError) in
        try StoreMigration.copy(store, to: site.folder.database)
      }
      try MediaCopy(folder: folder, reader: reader, link: link, report: report).run(to: site)
      let notes = folder.notesText
      try site.write(notes ?? "# \(folder.name)\n", to: site.folder.notes)
    }
    return built.result(
      at: destination.path,
      notes: ["schema \(store.schemaVersion) became schema \(Self.schema)"])
  }
}
