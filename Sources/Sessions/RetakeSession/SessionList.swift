import Foundation

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
  /// - Throws: `SessionError.noFolder` when the folder cannot be read.
  package init(in path: String) throws {
    items = try Self.folders(in: path).map { folder in
      Item(folder: folder, info: Result { try SessionReader(opening: folder.path).info() })
    }
  }

  /// Short summaries of the same sessions. They are read from few rows, however long a session is.
  ///
  /// - Throws: `SessionError.noFolder` when the folder cannot be read.
  package static func summaries(
    in path: String
  ) throws -> [(folder: SessionFolder, summary: Result<SessionSummary, any Error>)] {
    try folders(in: path).map { folder in
      (folder, Result { try SessionSummary(of: folder) })
    }
  }

  private static func folders(in path: String) throws -> [SessionFolder] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      let isThere = FileManager.default.fileExists(atPath: path)
      throw SessionError.noFolder(
        path: path, cause: isThere ? "it cannot be read as a folder" : "there is no such folder")
    }
    // Hidden folders are sessions in the making, or remains of a killed command.
    // By bytes, because Swift's own order of strings compares normalized characters.
    return names.filter { !$0.hasPrefix(".") }.sorted {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
    .map { SessionFolder(path: path + "/" + $0) }
    .filter { folder in
      // With media alone the database is lost, and the list says so.
      [folder.database, folder.media].contains { FileManager.default.fileExists(atPath: $0) }
    }
  }
}
