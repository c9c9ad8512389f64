import Foundation
import RetakeCore
package import RetakeSession
import RetakeStore

/// A copy of a session as its last commit left it, even while a recorder continues to write it.
///
/// Rows and media agree: of each media file only the part that the commit refers to is copied. The
/// copy is closed, every packet is checked against its checksum, and only then the copy gets its
/// name.
package struct SessionSnapshot: Sendable {
  private let folder: SessionFolder
  private let target: SessionTarget
  private let report: @Sendable (SessionCheck.Progress) -> Bool

  /// - Parameter report: Called with the progress in packets; returning false stops the copy, which
  ///   then removes its files.
  package init(
    of path: String, to target: SessionTarget,
    report: @escaping @Sendable (SessionCheck.Progress) -> Bool = { _ in true }
  ) {
    folder = SessionFolder(path: path)
    self.target = target
    self.report = report
  }

  /// - Throws: `SessionError`. A failed copy removes its files.
  package func run() throws -> SessionCopyResult {
    // Throws the reason why a session cannot be copied.
    _ = try SessionReader.open(folder)
    let destination = try target.folder(for: folder)
    let built = try BuiltSession(destination) { site in try copy(to: site) }
    return built.result(at: destination.path, notes: built.made)
  }

  /// - Returns: remarks for the reader.
  private func copy(to site: SessionBuilder) throws -> [String] {
    // The rows first. A recorder syncs media before it commits rows, so all
    // bytes that these rows need are in the media that is copied afterwards.
    try StoreReader.copy(folder.database, to: site.folder.database)
    let reader = try SessionReader(site.folder, options: ReadOptions(framesPerChain: nil))
    let commit = try reader.index.store.lastCommit().ordinal
    try SessionClosing.check(reader.index.store, at: folder.database)
    let isClosed = reader.index.store.isClosed
    try copyMedia(of: reader, to: site)
    try site.write(folder.notesText() ?? "# \(folder.name)\n", to: site.folder.notes)
    let closing = SessionClosing(folder: site.folder, report: report)
    guard !isClosed else {
      // The recorder was killed between its last commit and the merging of the log.
      if reader.index.store.hasJournal {
        try StoreWriter(continuing: site.folder.database).close()
      }
      return []
    }
    _ = try closing.close(reader) { findings in
      let losses =
        findings.damagedFrames > 0
        ? [counted(findings.damagedFrames, "frame has", "frames have") + " damaged media"] : []
      return SessionClosing.Account(
        wasCut: false, losses: losses, facts: [("snapshot", "commit \(commit)")])
    }
    return ["taken at commit \(commit) of a session that was not closed"]
  }

  /// Copies only the committed part of a file that is still open, and all bytes of other files.
  private func copyMedia(of reader: SessionReader, to site: SessionBuilder) throws {
    var limits: [String: Int64] = [:]
    for segment in reader.index.segments.values where !segment.isClosed {
      // Several segments may be in one file, which is needed up to the last of them.
      limits[segment.file] = max(limits[segment.file] ?? 0, segment.bytes)
    }
    try MediaCopy(folder: folder, reader: reader, limits: limits, report: report).run(to: site)
  }
}
