import Foundation

/// The resource files of a module that differ from their literals, and literals without a file;
/// sorted.
///
/// - Parameters:
///   - embedded: The literals by the names of their files.
///   - module: The module's folder below Sources: `Judge/RetakeReport`.
package func resourcesThatDiffer(
  from embedded: [String: String], of module: String
) throws -> [String] {
  let folder = packageRoot.appending(path: "Sources/\(module)/Resources")
  let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
  return try Set(files).union(embedded.keys).filter { file in
    guard let text = embedded[file], files.contains(file) else { return true }
    return Data(text.utf8) != (try Data(contentsOf: folder.appending(path: file)))
  }.sorted()
}
