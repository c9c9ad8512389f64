import RetakeCore

/// The session's name, and the files of an archive with their SHA-256, in the format of
/// `sha256sum -c`.
struct ArchiveManifest: Hashable {
  struct Entry: Hashable {
    /// `session.sqlite`, `NOTES.md`, or a file in `media`.
    var path: String
    /// 64 lower-case hexadecimal digits.
    var sha256: String
  }

  /// The first file of an archive.
  static let path = "manifest.sha256"
  /// The signature of the manifest's bytes, if there is one: the second file.
  static let signaturePath = "manifest.sha256.sig"
  static let version = 1
  static let bytesMax: Int64 = 16 << 20
  /// A file for each segment of the largest session, the database and the notes.
  static let entriesMax = 65_538
  private static let title = "# retake session archive "
  private static let nameTitle = "# name "

  /// The session's name when it was packed. It is here so that a signature covers it.
  let name: String

  /// Sorted by the bytes of their paths; the archive has the same order.
  var entries: [Entry]

  var text: String {
    "\(Self.title)\(Self.version)\n\(Self.nameTitle)\(name)\n"
      + entries.map { "\($0.sha256)  \($0.path)\n" }.joined()
  }

  /// - Throws: `ArchiveProblem` if these are not files of a session that any system can store.
  init(_ name: String, _ entries: [Entry]) throws(ArchiveProblem) {
    self.name = name
    self.entries = entries.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    for entry in entries where !Self.isAllowed(entry.path) {
      throw ArchiveProblem("'\(entry.path)' is not a file of a session")
    }
    guard Set(entries.map { $0.path.lowercased() }).count == entries.count else {
      throw ArchiveProblem("two files differ only in capital letters, or not at all")
    }
    guard entries.count <= Self.entriesMax else {
      throw ArchiveProblem("it has more than \(Self.entriesMax) files")
    }
    guard entries.contains(where: { $0.path == Self.database }) else {
      throw ArchiveProblem("it has no \(Self.database)")
    }
  }

  /// - Throws: `ArchiveProblem` for a text that `text` would not write.
  init(text: String) throws(ArchiveProblem) {
    let lines = text.split(separator: "\n" as Character, omittingEmptySubsequences: false)
    let version = lines.first.flatMap { line in
      line.hasPrefix(Self.title) ? Int(line.dropFirst(Self.title.count)) : nil
    }
    guard let version, lines.last == "" else { throw ArchiveProblem("its manifest is damaged") }
    guard version <= Self.version else { throw ArchiveProblem(newer: version) }
    guard lines.count > 2, lines[1].hasPrefix(Self.nameTitle) else {
      throw ArchiveProblem("its manifest does not contain the session's name")
    }
    try self.init(
      String(lines[1].dropFirst(Self.nameTitle.count)),
      lines.dropFirst(2).dropLast().map { line in
        Entry(path: String(line.dropFirst(66)), sha256: String(line.prefix(64)))
      })
    let areDigests = entries.allSatisfy { entry in
      entry.sha256.utf8.count == 64
        && entry.sha256.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
    // Also covers the order and the spaces.
    guard areDigests, self.text == text else { throw ArchiveProblem("its manifest is damaged") }
  }

  static let database = "session.sqlite"
  static let notes = "NOTES.md"
  private static let media = "media/"

  private static func isAllowed(_ path: String) -> Bool {
    [database, notes].contains(path)
      || path.hasPrefix(media) && String(path.dropFirst(media.count)).isSafeName
  }
}
