package import Foundation
import RetakeCore

/// The folder `Labels`, with a file for each labelled session.
package struct LabelFolder: Hashable, Sendable {
  /// The largest file that is read.
  private static let bytesMax: Int64 = 256 << 20

  package let root: URL

  package init(root: URL) { self.root = root }

  package func file(_ session: String) -> URL { root.appending(path: "\(session).json") }

  /// The names of the labelled sessions, in their order.
  package var sessions: [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
    return files.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
  }

  /// The labels of a session; `nil` if the session has no file.
  ///
  /// - Throws: `LabelError`, `StoredError`, `GoldenError.io`.
  package func document(of session: String) throws -> LabelDocument? {
    let file = file(session)
    guard RegularFile.isTaken(file.path) else { return nil }
    let data = try contents(of: file, bytesMax: Self.bytesMax)
    if LargeFilePointer(data) != nil { throw LabelError.pointer(file.path) }
    return try LabelDocument([UInt8](data), file: file.path)
  }

  /// Writes the labels of a session; an interrupted write leaves the old file.
  ///
  /// - Throws: `GoldenError.io`.
  package func write(_ document: LabelDocument, of session: String) throws {
    let file = file(session)
    if let link = OwnFolder.linkOut(of: root.path, to: file.path) {
      throw GoldenError.io(
        path: link, action: "write the labels", cause: "it is a symbolic link that leads elsewhere")
    }
    try io(root, "make the folder") {
      try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    }
    // Ends in .new, so git ignores it if this is interrupted.
    let new = file.appendingPathExtension("new")
    try OutputFile.write(document.text.utf8, to: new)
    try replace(file, with: new)
    synchronize(folder: root)
  }
}
