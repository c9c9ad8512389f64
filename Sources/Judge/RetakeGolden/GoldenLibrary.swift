package import Foundation
import RetakeCore

/// The folder of all goldens. Lists accepted, pending and stale goldens.
package struct GoldenLibrary: Hashable, Sendable {
  package struct Key: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var session: String
    package var testCase: String

    package init(session: String, testCase: String) {
      self.session = session
      self.testCase = testCase
    }

    /// `session/case`.
    package var description: String { "\(session)/\(testCase)" }

    package static func < (left: Key, right: Key) -> Bool {
      (left.session, left.testCase) < (right.session, right.testCase)
    }
  }

  /// The folder `Goldens`.
  package let root: URL

  package init(root: URL) {
    self.root = root
  }

  package func folder(_ key: Key) -> GoldenFolder {
    GoldenFolder(root: root, session: key.session, testCase: key.testCase)
  }

  /// Rejects a golden that is not really in this folder because its path has a symbolic link that
  /// leads out of it. A write or a removal there would change files of something else.
  ///
  /// - Throws: `GoldenError.io`.
  package func requireOwn(_ key: Key) throws {
    let folder = folder(key)
    // Also the folders in which an acceptance writes and moves: a link there would lead out just
    // the same.
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []
    let inner =
      [GoldenFolder.acceptingName]
      + entries.sorted().filter { $0.hasPrefix(GoldenFolder.alternatePrefix) }
    for url in [folder.url] + inner.map({ folder.url.appending(path: $0) }) {
      guard let link = OwnFolder.linkOut(of: root.path, to: url.path) else { continue }
      throw GoldenError.io(
        path: link, action: "use this folder for a golden",
        cause: link == root.path
          ? "it is a symbolic link that leads to no file"
          : "it is a symbolic link that leads out of \(root.path)")
    }
  }

  /// All accepted goldens, in order.
  package func keys() -> [Key] { keys { $0.exists } }

  /// All pending goldens, in order.
  package func pendingKeys() -> [Key] { keys { $0.pending.exists } }

  /// The selected goldens that no session and case produces any longer, in order.
  ///
  /// - Parameters:
  ///   - isSelected: Whether the selection would have run the golden if it still existed.
  ///   - existing: The existing sessions and cases.
  package func stale(isSelected: (Key) -> Bool, existing: Set<Key>) -> [Key] {
    keys().filter { isSelected($0) && !existing.contains($0) }
  }

  private func keys(_ isWanted: (GoldenFolder) -> Bool) -> [Key] {
    folders(in: root).flatMap { session in
      folders(in: root.appending(path: session)).map { Key(session: session, testCase: $0) }
    }.filter { isWanted(folder($0)) }.sorted()
  }

  private func folders(in url: URL) -> [String] {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    return entries.filter { entry in
      var isFolder: ObjCBool = false
      let path = url.appending(path: entry).path
      // Hidden folders belong to writers and acceptances in progress. They are not sessions or
      // cases.
      return !entry.hasPrefix(".")
        && FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        && isFolder.boolValue
    }
  }
}
