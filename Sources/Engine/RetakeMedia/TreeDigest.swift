import Foundation
import RetakeCore

/// The contents of a file, or the names and contents of all files in a folder. Hidden files and
/// compiled modules of Python belong to tools, and do not count.
package enum TreeDigest: Hashable, Sendable {
  /// SHA-256.
  case contents(String)
  /// Sizes and times of change on this machine: a digest would take too long.
  case facts(String)

  /// The largest file, and the largest folder, with a digest.
  private static let bytesMax: Int64 = 256 << 20
  /// The most files of a folder with a digest.
  private static let filesMax = 1_000
  /// Further files of a folder are not read.
  private static let listedMax = 100_000

  /// - Parameter path: Links are followed. `nil` for a path of another kind, or without a file.
  package init?(of path: String) {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return nil }
    if isFolder.boolValue {
      self = Self.folder(path)
    } else if let digest = Self.digest(of: path) {
      self = .contents(digest)
    } else if let facts = Self.facts(of: path) {
      self = .facts(facts)
    } else {
      return nil
    }
  }

  private static func digest(of path: String) -> String? {
    let content = try? RegularFile.contents(path, links: .followed, bytesMax: bytesMax)
    return content.map { Sha256.digest(of: $0) }
  }

  /// `nil` if it is no regular file.
  private static func facts(of path: String) -> String? {
    guard let facts = try? RegularFile.facts(of: path, links: .followed) else { return nil }
    return "\(facts.bytes) \(facts.modifiedNanoseconds)"
  }

  private static func folder(_ path: String) -> Self {
    var files: [(name: String, path: String, bytes: Int64)] = []
    let root = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    let found = FileManager.default.enumerator(
      at: root, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
    while files.count < listedMax, let file = found?.nextObject() as? URL {
      if file.lastPathComponent == "__pycache__" { found?.skipDescendants() }
      guard let facts = try? RegularFile.facts(of: file.path, links: .followed) else { continue }
      files.append((String(file.path.dropFirst(root.path.count)), file.path, facts.bytes))
    }
    files.sort { $0.name < $1.name }
    let isSmall = files.count <= filesMax && files.reduce(0) { $0 + $1.bytes } <= bytesMax
    let lines = files.map { file in
      "\((isSmall ? digest(of: file.path) : facts(of: file.path)) ?? "-") \(file.name)\n"
    }
    let sum = Sha256.digest(of: Array(lines.joined().utf8))
    return isSmall ? .contents(sum) : .facts(sum)
  }
}
