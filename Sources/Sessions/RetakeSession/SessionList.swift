import Foundation
package import RetakeCore

/// The sessions in a folder.
package struct SessionList: Sendable {
  /// A session, or the error of a folder that looks like one.
  package struct Item: Sendable {
    package var folder: SessionFolder
    package var info: Result<SessionInfo, any Error>
  }

  /// Sorted by the bytes of the name.
  package var items: [Item]

  /// Looks at each folder directly inside `path`; hidden folders, and folders without database and media,
  /// are skipped.
  ///
  /// - Throws: `SessionError.noFolder` for a folder that does not exist; `obstacle(in:)`.
  package init(in path: String) throws {
    items = try Self.folders(in: path).map { folder in
      Item(folder: folder, info: Result { try SessionReader(opening: folder.path).info() })
    }
  }

  /// Short summaries of the same sessions. They are read from few rows, however long a session is.
  ///
  /// - Throws: As `init(in:)`.
  package static func summaries(
    in path: String
  ) throws -> [(folder: SessionFolder, summary: Result<SessionSummary, any Error>)] {
    try folders(in: path).map { folder in
      (folder, Result { try SessionSummary(of: folder) })
    }
  }

  /// Why the sessions of a folder are not known; `nil` if the folder can be read, or does not exist.
  package static func obstacle(in path: String) -> ErrorFacts? {
    do {
      _ = try FileManager.default.contentsOfDirectory(atPath: path)
      return nil
    } catch {
      return obstacle(error, in: path)
    }
  }

  private static func obstacle(_ error: any Error, in path: String) -> ErrorFacts? {
    if let link = SessionFolder.deadLink(path) {
      return ErrorFacts(
        "session.list.unreadable", "this is a link to \(link), which is not there", at: path,
        advice: "Mount the disk that it leads to, or correct the link")
    }
    guard RegularFile.isTaken(path) else { return nil }
    return ErrorFacts(
      "session.list.unreadable", "this folder of sessions cannot be read",
      cause: error.systemText, at: path,
      advice: error.systemNumber == EACCES
        ? SessionFolder.wayToRead(path) : "Put a folder in its place")
  }

  /// - Throws: As `init(in:)`.
  package static func folders(in path: String) throws -> [SessionFolder] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw obstacle(error, in: path)
        ?? SessionError.noFolder(path: path, cause: "there is no such folder")
    }
    // Hidden folders are sessions in the making, or remains of a killed command.
    // By bytes, because Swift's own order of strings compares normalized characters.
    return names.filter { !$0.hasPrefix(".") }.sorted {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
    .map { SessionFolder(path: path + "/" + $0) }
    .filter(\.looksLikeSession)
  }
}
