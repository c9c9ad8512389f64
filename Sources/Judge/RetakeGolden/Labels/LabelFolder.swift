package import Foundation
package import RetakeCore

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

  /// Changes the labels of a session. Until they are written, no other process changes them.
  ///
  /// - Parameter seen: The digest that the labels must have; `nil` for any labels.
  /// - Returns: The labels that were written.
  /// - Throws: As `document(of:)` and `write(_:of:)`, and the errors of `change`;
  ///   `labels.changed` if the labels have another digest.
  package func change(
    _ session: String, seen: Digest128? = nil, _ change: (inout LabelDocument) throws -> Void
  ) throws -> LabelDocument {
    try makeFolder()
    let lock = FolderLock(root, .writing)
    defer { withExtendedLifetime(lock) {} }
    var document = try document(of: session) ?? LabelDocument()
    if let seen, document.digest != seen { throw LabelError.changed(file(session).path) }
    try change(&document)
    try write(document, of: session)
    return document
  }

  private func makeFolder() throws {
    try io(root, "make the folder") {
      try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    }
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
    try makeFolder()
    // Ends in .new, so git ignores it if this is interrupted.
    let new = file.appendingPathExtension("new")
    try OutputFile.write(document.text.utf8, to: new)
    try replace(file, with: new)
    synchronize(folder: root)
  }
}
