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

  /// - Parameter link: Link to the media rather than copying it.
  public init(of path: String, to target: SessionTarget, link: Bool = false) {
    folder = SessionFolder(path: path)
    self.target = target
    self.link = link
  }

  /// - Returns: nil when the session has the present schema already; nothing is made then.
  /// - Throws: `SessionError`: a schema of a newer version, a database that is open or damaged.
  ///   Nothing is left behind.
  public func run() throws -> SessionCopyResult? { try make() }

  private func make() throws(SessionError) -> SessionCopyResult? {
    let reader = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
    let store = reader.index.store
    guard store.schemaVersion < Self.schema else { return nil }
    guard store.isClosed else { throw .notClosed(path: folder.path) }
    try SessionClosing.check(store, at: folder.database)
    let digest = try fromStore { () throws(StoreError) in try store.digest() }
    let destination = try target.folder(for: folder)
    let site = try BuildSite(for: destination)
    do throws(SessionError) {
      _ = try fromStore { () throws(StoreError) in
        try StoreMigration.copy(store, to: site.folder.database)
      }
      try copyFiles(of: reader, to: site)
      let checked = try SessionSnapshot.checked(site.folder, as: destination)
      guard checked.digest == digest else {
        throw SessionError.recoveryFailed(
          path: destination.path, cause: "the copy has another digest than the session")
      }
      try site.finish()
      return SessionCopyResult(
        path: destination.path, status: checked.status, frames: checked.frames,
        damagedFrames: checked.damagedFrames, sessionDigest: digest,
        notes: ["schema \(store.schemaVersion) became schema \(Self.schema)"])
    } catch {
      site.discard()
      throw error
    }
  }

  private func copyFiles(of reader: SessionReader, to site: BuildSite) throws(SessionError) {
    let files = try fromStore { () throws(StoreError) in try reader.index.store.files() }
    for name in Set(reader.mediaFiles() + files.map(\.path)).sorted() {
      let source = try folder.file(name)
      guard FileManager.default.fileExists(atPath: source) else {
        throw .mediaMissing(file: source)
      }
      try site.bring(
        URL(fileURLWithPath: source).resolvingSymlinksInPath().path, as: name, link: link)
    }
    let notes = try? String(contentsOfFile: folder.notes, encoding: .utf8)
    try site.write(notes ?? "# \(folder.name)\n", to: site.folder.notes)
  }
}
