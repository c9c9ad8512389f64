import Foundation
import RetakeCore
import RetakeGolden
import RetakeMedia
import RetakeSession

/// The text file `Recordings/NAME.session.yml`, which replaces a session's folder in git: the digest
/// of each file of the session, and the stores that contain the files.
package struct SessionPointer: Hashable, Sendable {
  package struct File: Hashable, Sendable {
    /// Relative to the session's folder: `session.sqlite`, `media/original.mp4`.
    package var path: String
    package var object: StoredObject
  }

  package static let ending = ".session.yml"
  private static let fileBytesMax: Int64 = 4 << 20

  /// The name of the session.
  package var name: String
  /// Folders, buckets and remotes of rclone, as `StoreAddress` reads them.
  package var remotes: [String]
  /// Sorted by path.
  package private(set) var files: [File]

  package var bytes: Int64 { files.reduce(0) { $0 + $1.object.bytes } }

  /// Each content once, in the order of its first file.
  var objects: [StoredObject] {
    var seen: Set<StoredObject> = []
    return files.map(\.object).filter { seen.insert($0).inserted }
  }

  /// The names of the pointers in a folder, sorted by their bytes.
  package static func names(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(ending) }.map { String($0.dropLast(ending.count)) }
      .filter(\.isSafeName).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// SHA-256 of the session's name and of the paths and digests of its files. It does not depend on
  /// the remotes.
  package var digest: String {
    let lines = files.map { "\($0.object.sha256) \($0.object.bytes) \($0.path)\n" }
    return Sha256.digest(of: Array((name + "\n" + lines.joined()).utf8))
  }

  /// - Throws: `SuiteError` for a file that is not a pointer, with the JSON pointer of the invalid
  ///   value.
  package init(reading file: String) throws {
    let data: Data
    do {
      data = try RegularFile.contents(file, bytesMax: Self.fileBytesMax)
    } catch let error as RegularFile.Refusal {
      throw SuiteError.pointerUnreadable(file, cause: "\(error)")
    }
    guard LargeFilePointer(data) == nil else { throw SuiteError.pointerOfGit(file) }
    name = String(URL(fileURLWithPath: file).lastPathComponent.dropLast(Self.ending.count))
    (remotes, files) = ([], [])
    guard name.isSafeName else { throw SuiteError.pointerUnreadable(file, cause: "its name") }
    do {
      try read(ProjectDecoder(yaml: String(decoding: data, as: UTF8.self)))
    } catch let error as DocumentProblem {
      throw SuiteError.project(error, file: file)
    }
  }

  private mutating func read(_ decoder: ProjectDecoder) throws {
    let fields = try decoder.document(["bytes", "remotes", "files"])
    remotes = try fields.elements("remotes").map { element in
      let text = try element.string()
      guard StoreAddress(text) != nil else { throw element.wrong(StoreAddress.rule(text)) }
      return text
    }
    let entries = try fields.members("files")
    guard entries.count <= Self.filesMax else {
      throw fields.wrong("'files' has more than \(Self.filesMax) files")
    }
    for (path, value) in entries {
      guard Self.isPath(path) else {
        throw value.wrong("a session has no file with this path")
      }
      let file = try value.object(["bytes", "sha256"])
      let (digest, bytes) = (try file.required("sha256"), try file.required("bytes"))
      guard StoredObject.isDigest(try digest.string()) else {
        throw digest.wrong("must be 64 lowercase hexadecimal digits")
      }
      let object = StoredObject(
        sha256: try digest.string(),
        bytes: Int64(try bytes.integer(in: 0...Self.bytesMax, "a file has 0 or more bytes")))
      files.append(File(path: path, object: object))
    }
    files.sort { $0.path < $1.path }
    guard files.contains(where: { $0.path == "session.sqlite" }) else {
      throw fields.wrong("'files' has no session.sqlite")
    }
    // On a disk that ignores case, the second file would overwrite the first.
    guard Set(files.map { $0.path.lowercased() }).count == files.count else {
      throw fields.wrong("two paths in 'files' differ only in the case of letters")
    }
    let total = try fields.required("bytes")
    guard try Int64(total.integer()) == bytes else {
      throw total.wrong("the files have \(bytes) bytes together")
    }
  }

  /// The largest file; the sum of 10,000 files of that size is an integer of 64 bits.
  private static let bytesMax = 1 << 48
  private static let filesMax = 10_000

  /// Only files of closed sessions: a database with a planted write-ahead log would have other rows.
  static func isPath(_ path: String) -> Bool {
    if path == "session.sqlite" || path == "NOTES.md" { return true }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count == 2 && parts[0] == "media" && String(parts[1]).isSafeName
  }
}

// MARK: - Written

extension SessionPointer {
  /// Reads and digests all files of a closed session.
  ///
  /// - Parameter isInterrupted: Called after each mebibyte.
  /// - Throws: `SuiteError` for a session that is not closed, has other files, or has more files than
  ///   a pointer may name; `MediaError` for a file that cannot be read or is a pointer of Git LFS;
  ///   `RuntimeError.interrupted`.
  init(digesting folder: SessionFolder, isInterrupted: () -> Bool) throws {
    (name, remotes, files) = (folder.name, [], [])
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      let media = try FileManager.default.contentsOfDirectory(atPath: folder.media)
      files = []
      for path in (names.filter { $0 != "media" } + media.map { "media/\($0)" }).sorted() {
        // Left by the file managers of desktops.
        if path.hasSuffix(".DS_Store") { continue }
        guard Self.isPath(path) else { throw SuiteError.notStorable(folder.path, file: path) }
        let unknown = StoredObject(sha256: String(repeating: "0", count: 64), bytes: 0)
        files.append(File(path: path, object: unknown))
      }
    } catch let error as CocoaError {
      throw SuiteError.pointerUnreadable(folder.path, cause: error.systemText)
    }
    try requireReadable(folder)
    for index in files.indices {
      files[index].object = try .init(
        digesting: "\(folder.path)/\(files[index].path)", isInterrupted: isInterrupted)
    }
  }

  /// Checks that the pointer can be read again, before its files are digested and sent.
  private func requireReadable(_ folder: SessionFolder) throws {
    var other = self
    other.files = []
    do {
      try other.read(ProjectDecoder(yaml: text))
    } catch let problem as DocumentProblem {
      throw SuiteError.noPointer(of: folder.path, cause: problem.message)
    }
  }

  /// The content of the file.
  package var text: String {
    // A digest may consist of digits alone, and a remote may contain characters of YAML.
    let quoted = remotes.map { JSONValue.string($0).canonicalText }.joined(separator: ", ")
    return """
      # The session is in a store. Fetch it: retake store pull \(name)
      v: 1
      bytes: \(bytes)
      remotes: [\(quoted)]
      files:

      """
        + files.map {
          "  \($0.path): {bytes: \($0.object.bytes), sha256: \"\($0.object.sha256)\"}\n"
        }.joined()
  }
}
