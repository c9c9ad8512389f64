import Foundation
import RetakeStore

/// The user's note of a session: a few words that `session list` shows, to find the session again.
///
/// It is a fact of the database, so copies keep it. The digest of a session covers no facts: a
/// golden stays valid whatever the note says.
package struct SessionNote: Sendable {
  /// The key in the table `meta`.
  package static let fact = "note"
  /// Bytes of UTF-8. Longer texts belong to NOTES.md.
  package static let bytesMax = 4_096

  private let folder: SessionFolder

  package init(of path: String) { folder = SessionFolder(path: path) }

  /// The text without white space at both ends.
  ///
  /// - Throws: `SessionError.noteTooLong`.
  package static func checked(_ text: String) throws -> String {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard text.utf8.count <= bytesMax else {
      throw SessionError.noteTooLong(bytes: text.utf8.count, bytesMax: bytesMax)
    }
    return text
  }

  /// - Returns: nil for a session without a note.
  /// - Throws: `SessionError` if this is not a session, or its database cannot be read.
  package func text() throws -> String? {
    try Self.text(in: try SessionReader.open(folder))
  }

  /// Replaces the note; an empty text removes it.
  ///
  /// - Throws: `SessionError.noteTooLong`, `.beingRecorded`, `.notClosed`, or an error of the
  ///   database. The note is as before then.
  package func set(_ text: String) throws {
    let text = try Self.checked(text)
    let store = try SessionReader.open(folder)
    guard store.isClosed else { throw SessionError.notClosed(folder) }
    // The writer opens the file again, so damage is reported before anything is written.
    try store.requireWhole()
    let writer = try StoreWriter(continuing: folder.database)
    writer.setMeta(Self.fact, text)
    try writer.close()
  }

  static func text(in store: StoreReader) throws -> String? {
    let stored = try store.meta(fact)
    return stored.flatMap { $0.isEmpty ? nil : $0 }
  }
}
