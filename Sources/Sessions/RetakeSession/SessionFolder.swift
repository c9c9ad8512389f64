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
  /// The contents of NOTES.md; nil if the file does not exist, is a link, or exceeds the size
  /// limit.
  package var notesText: String? {
    let data = try? RegularFile.contents(notes, bytesMax: Self.notesBytesMax)
    return data.map { String(decoding: $0, as: UTF8.self) }
  }
  private static let notesBytesMax: Int64 = 4 << 20
  package var media: String { path + "/media" }
  /// Exists only while a recorder writes.
  package var lock: String { path + "/recorder.lock" }

  /// The media files in the folder, independent of the database: relative, sorted.
  package var mediaOnDisk: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: media)) ?? []
    return names.filter { $0.hasPrefix("original.") || $0 == "original" || $0.hasPrefix("video-") }
      .sorted().map { "media/" + $0 }
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
  package static func sanitized(name: String) throws -> String {
    var result = ""
    for scalar in name.unicodeScalars {
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
    guard !name.isEmpty else { throw SessionError.badName(name: result, suggestion: nil) }
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
