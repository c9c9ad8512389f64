import Foundation
import RetakeTestSupport

/// The files of the package on disk.
enum Repository {
  /// Paths from the root of all files that are committed or would be; sorted.
  static func paths(committedOnly: Bool = false) throws -> [String] {
    try (committedOnly ? committed : all).get()
  }

  // Listed once: no test adds a file to the package.
  private static let committed = Result { try list(committedOnly: true) }
  private static let all = Result { try list(committedOnly: false) }

  private static func list(committedOnly: Bool) throws -> [String] {
    let selection = committedOnly ? [] : ["--others", "--exclude-standard"]
    let git = try runCommand(
      "git", arguments: ["ls-files", "-z", "--cached", "--deduplicate"] + selection,
      folder: packageRoot)
    guard git.status == 0 else { return try pathsWithoutGit() }
    return git.stdout.split(separator: "\0").map(String.init)
      .filter { FileManager.default.fileExists(atPath: url($0).path) }.sorted()
  }

  /// The package may have been unpacked from an archive. Then everything except hidden folders
  /// belongs to it.
  private static func pathsWithoutGit() throws -> [String] {
    let entries = FileManager.default.enumerator(
      at: packageRoot, includingPropertiesForKeys: [.isRegularFileKey],
      options: [.skipsHiddenFiles])
    return (entries?.allObjects as? [URL] ?? [])
      .filter { (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true }
      .map { String($0.path.dropFirst(packageRoot.path.count + 1)) }.sorted()
  }

  static func url(_ path: String) -> URL { packageRoot.appending(path: path) }

  /// The Swift files under any of the folders.
  static func swiftFiles(in folders: [String]) throws -> [SourceFile] {
    try paths().filter { path in
      path.hasSuffix(".swift") && folders.contains { path.hasPrefix("\($0)/") }
    }.map { SourceFile(path: $0, text: try String(contentsOf: url($0), encoding: .utf8)) }
  }

  /// Every file that people write: sources, scripts, documents; no media, no goldens.
  static func texts() throws -> [SourceFile] {
    try paths().compactMap { path in
      guard !path.hasSuffix(".gold"), let data = try? Data(contentsOf: url(path)),
        data.count < 1 << 20, !data.contains(0), let text = String(data: data, encoding: .utf8)
      else { return nil }
      return SourceFile(path: path, text: text)
    }
  }

  /// The bytes of every committed file.
  static func sizes() throws -> [String: Int] {
    var sizes: [String: Int] = [:]
    for path in try paths(committedOnly: true) {
      sizes[path] = try url(path).resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
    }
    return sizes
  }
}
