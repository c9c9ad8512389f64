import Foundation
import RetakeCore
import RetakeStore

/// A session's folder and the files in it.
public struct SessionFolder: Hashable, Sendable {
  /// Absolute, without a trailing slash.
  public let path: String

  /// Makes the path absolute, from the current folder, and removes `.` and `..`. The folder does
  /// not have to exist.
  package init(path: String) {
    self.path = URL(fileURLWithPath: path).standardizedFileURL.path
  }

  /// The name of the folder, which is the session's name.
  public var name: String { URL(fileURLWithPath: path).lastPathComponent }

  package var database: String { path + "/session.sqlite" }
  package var notes: String { path + "/NOTES.md" }
  /// The contents of NOTES.md, for a copy of the session; nil if the file does not exist.
  ///
  /// - Throws: `session.notes.unreadable`: a copy without the notes would look complete.
  package func notesText() throws -> String? {
    do {
      let data = try RegularFile.contents(notes, bytesMax: Self.notesBytesMax)
      return String(decoding: data, as: UTF8.self)
    } catch RegularFile.Refusal.missing {
      return nil
    } catch {
      throw ErrorFacts(
        "session.notes.unreadable", "the session's notes cannot be copied", cause: "\(error)",
        at: notes, advice: "Move this file, or a part of it, out of the session's folder")
    }
  }
  private static let notesBytesMax: Int64 = 4 << 20
  package var media: String { path + "/media" }
  /// Exists only while a recorder writes.
  package var lock: String { path + "/recorder.lock" }

  /// The media files in the folder, independent of the database: relative, sorted.
  package var mediaOnDisk: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: media)) ?? []
    return names.filter {
      $0.hasPrefix("original.") || $0.hasPrefix("original-") || $0 == "original"
        || $0.hasPrefix("video-")
    }.sorted().map { "media/" + $0 }
  }

  /// Checks that this user may read the folder, its index and its media: a session that cannot be
  /// read is not damaged.
  ///
  /// - Parameter number: The system's error number for a path that cannot be read; 0 if it can.
  /// - Throws: `StoreError.noPermission` for the first path that cannot be read.
  func requireReadable(number: (String, Int32) -> Int32 = Self.accessError) throws {
    for (path, mode) in [(path, R_OK | X_OK), (media, R_OK | X_OK), (database, R_OK)]
    where number(path, mode) == EACCES { throw StoreError.noPermission(path: path) }
    for name in mediaOnDisk where number(path + "/" + name, R_OK) == EACCES {
      throw StoreError.noPermission(path: path + "/" + name)
    }
  }

  private static func accessError(_ path: String, _ mode: Int32) -> Int32 {
    access(path, mode) == 0 ? 0 : errno
  }

  /// Whether the media are the files of a join, which puts `a-` and `b-` before their names.
  var hasJoinedMedia: Bool {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: media)) ?? []
    return names.contains { name in
      ["a-", "b-"].contains { name.hasPrefix($0) }
        && ["original", "video-"].contains { name.dropFirst(2).hasPrefix($0) }
    }
  }

  /// The session in whose folder a path is, also through links; `nil` outside of sessions. The path
  /// does not have to exist.
  package static func enclosing(_ path: String) -> SessionFolder? {
    var url = URL(fileURLWithPath: path).standardizedFileURL
    var isReal = false
    // Ends: each round removes a component of the path.
    while url.pathComponents.count > 1 {
      if !isReal, let real = OwnFolder.realPath(url.path) {
        (url, isReal) = (URL(fileURLWithPath: real), true)
      }
      let folder = SessionFolder(path: url.path)
      if FileManager.default.fileExists(atPath: folder.database) { return folder }
      url.deleteLastPathComponent()
    }
    return nil
  }

  /// Rejects a parent folder of new sessions, or a file, that is in a session; and a file in place of
  /// the parent folder.
  ///
  /// - Throws: `session.output.inSession`, `session.output.file`.
  package static func requireOutside(_ path: String, isParent: Bool = true) throws {
    if let session = enclosing(path) {
      throw ErrorFacts(
        "session.output.inSession", "'\(path)' would be written into the session \(session.name)",
        advice: "Name a \(isParent ? "folder" : "file") outside of sessions")
    }
    var isFolder = ObjCBool(true)
    guard isParent, FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
      !isFolder.boolValue
    else { return }
    throw ErrorFacts(
      "session.output.file", "--into names a file", at: path,
      advice: "Name the folder in which the session's folder is made: --into Recordings",
      kind: .usage)
  }

  /// Whether the folder has a database or media, or cannot be searched for them: a folder without
  /// permission counts, so that its session is not reported as gone.
  var looksLikeSession: Bool {
    // With media alone the database is lost, and an error says so.
    [database, media].contains { (path: String) in
      // `lost+found` of a disk has no permission either, and is not a session.
      access(path, F_OK) == 0 || errno == EACCES && name.isSafeName
    }
  }

  /// Where a link leads that leads to nothing; `nil` for anything else.
  package static func deadLink(_ path: String) -> String? {
    guard access(path, F_OK) != 0, errno == ENOENT else { return nil }
    return try? FileManager.default.destinationOfSymbolicLink(atPath: path)
  }

  static func wayToRead(_ path: String) -> String {
    "Make it readable: chmod -R u+rX \(path.shellWord)"
  }

  /// The absolute path of a file that the database names.
  ///
  /// - Throws: `SessionError.unsafePath` for a path that leaves the folder.
  package func file(_ relative: String) throws -> String {
    let parts = relative.split(separator: "/", omittingEmptySubsequences: false)
    guard !parts.isEmpty, parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }),
      // The system would read the path only up to a zero byte.
      !relative.utf8.contains(0)
    else { throw SessionError.unsafePath(session: path, path: relative) }
    return path + "/" + relative
  }

  /// Converts a name to a name that is safe for a folder on any system: ASCII letters and digits,
  /// `-`, `_`, `.`.
  ///
  /// Every other character becomes `-`; dots and dashes at both ends are removed; at most 64
  /// characters are kept.
  /// - Throws: `SessionError.badName` when no character remains.
  package static func sanitized(name other: String) throws -> String {
    var result = ""
    for scalar in other.unicodeScalars {
      let isPlain =
        scalar.isASCII
        && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
          || "-_.".unicodeScalars.contains(scalar))
      if isPlain {
        result.unicodeScalars.append(scalar)
      } else if result.last != "-" {
        result.append("-")
      }
    }
    // A leading dot would hide the folder from `list`, and a leading dash reads as an option.
    let ends: Set<Character> = ["-", "."]
    let trimmed = result.drop { ends.contains($0) }.prefix(nameLengthMax)
    // Again at the end, where the cut may have left a dot or a dash.
    let name = trimmed.reversed().drop { ends.contains($0) }.reversed()
    guard !name.isEmpty else {
      throw ErrorFacts(
        "session.name.bad", "no name can be made from '\(other)'",
        cause: "a session's name has letters from A to Z, digits, '-', '_' and '.'",
        advice: "Write: --name NAME", kind: .usage)
    }
    return String(name)
  }

  /// Checks a name that the user gave, and returns it unchanged.
  ///
  /// - Throws: `SessionError.badName` for a name that is not safe for a folder on any system, with
  ///   the nearest safe name.
  package static func checked(name: String) throws -> String {
    let safe = try? sanitized(name: name)
    guard let safe, safe == name else { throw SessionError.badName(name: name, suggestion: safe) }
    return safe
  }

  static let nameLengthMax = 64

  /// The folder of a new session; it does not exist.
  ///
  /// - Parameters:
  ///   - name: A name that the user gave; nil takes the safe form of `other`.
  ///   - check: Called before the disk is asked whether the folder exists.
  /// - Throws: `SessionError.badName` or `.nameTaken`.
  package init(
    new name: String?, or other: String, in parent: String,
    check: (SessionFolder) throws -> Void = { _ in }
  ) throws {
    let name = try name.map(Self.checked(name:)) ?? Self.sanitized(name: other)
    self.init(path: parent + "/" + name)
    try check(self)
    try Self.requireOutside(parent)
    guard !FileManager.default.fileExists(atPath: path) else {
      throw SessionError.nameTaken(path: path)
    }
  }
}

/// Decodes a hexadecimal string.
func bytes(hex: String) -> [UInt8] {
  var result: [UInt8] = []
  var rest = hex[...]
  while rest.count >= 2, let byte = UInt8(rest.prefix(2), radix: 16) {
    result.append(byte)
    rest = rest.dropFirst(2)
  }
  return result
}
