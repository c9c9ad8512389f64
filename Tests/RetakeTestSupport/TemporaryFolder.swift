import Foundation

/// A fresh, empty folder that is removed with everything in it when the last holder lets go.
package final class TemporaryFolder: Sendable {
  package let url: URL

  package init(_ name: String = "retake-test") throws {
    url = FileManager.default.temporaryDirectory
      .appending(path: "\(name)-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  /// The URL of an entry; nothing is made there.
  package func file(_ path: String) -> URL { url.appending(path: path) }

  /// Writes a file, with the folders on its way.
  @discardableResult
  package func write(_ text: String, to path: String) throws -> URL {
    let file = file(path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    return file
  }
}
