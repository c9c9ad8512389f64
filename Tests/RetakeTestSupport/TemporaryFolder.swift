import Foundation
import Synchronization

/// A new, empty folder. It is removed with its contents when the last reference is released or, if
/// a global holds it, when the tests end.
package final class TemporaryFolder: Sendable {
  package let url: URL

  package init(_ name: String = "retake-test") throws {
    url = FileManager.default.temporaryDirectory
      .appending(path: "\(name)-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    Leftovers.add(url)
  }

  deinit {
    Leftovers.remove(url)
  }

  /// The URL of an entry, which is not created.
  package func file(_ path: String) -> URL { url.appending(path: path) }

  /// Writes a file, and creates the folders of its path.
  @discardableResult
  package func write(_ text: String, to path: String) throws -> URL {
    let file = file(path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    return file
  }
}

/// The folders that are still in use; they are removed at exit.
private enum Leftovers {
  private static let urls = Mutex<Set<URL>>([])
  private static let atExit: Void = {
    _ = atexit { for url in Leftovers.urls.withLock({ $0 }) { Leftovers.remove(url) } }
  }()

  static func add(_ url: URL) {
    atExit
    urls.withLock { _ = $0.insert(url) }
  }

  static func remove(_ url: URL) {
    try? FileManager.default.removeItem(at: url)
    urls.withLock { _ = $0.remove(url) }
  }
}
