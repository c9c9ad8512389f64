import Foundation
import RetakeCore
import RetakeGolden

/// The goldens that the last test left pending. After a test of some sessions, the pending goldens
/// of earlier tests still exist, and the output of the last test did not show them.
struct LastTest: Hashable, Codable {
  /// The largest file that is read: 10,000 keys are 1 MB at most.
  private static let bytesMax: Int64 = 4 << 20
  private static let fileName = ".retake/last-test.json"

  private var v = 1
  /// The folder of the pending goldens. The keys say nothing about any other folder.
  private var root: String
  /// `session/case`, in order.
  private(set) var keys: [String]

  init(root: URL, keys: [GoldenLibrary.Key]) {
    self.root = root.standardizedFileURL.path
    self.keys = keys.sorted().map(\.description)
  }

  /// The goldens that the last test left pending in a folder; `nil` if they are unknown.
  init?(reading project: Project, root: URL) {
    guard
      let data = try? RegularFile.contents(
        project.path(Self.fileName), bytesMax: Self.bytesMax),
      let known = try? JSONDecoder().decode(Self.self, from: data), known.v == 1,
      known.root == root.standardizedFileURL.path
    else { return nil }
    self = known
  }

  /// Stores the keys for the next `retake accept`. A project that cannot be written is tested all
  /// the same.
  func write(to project: Project) {
    guard (try? project.requireOwn(Self.fileName)) != nil else { return }
    let url = URL(fileURLWithPath: project.path(Self.fileName))
    guard !keys.isEmpty else {
      // Without a pending golden, no folder is made for the file.
      if FileManager.default.fileExists(atPath: url.path) { save(at: url) }
      return
    }
    try? FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    save(at: url)
  }

  private func save(at url: URL) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    try? encoder.encode(self).write(to: url, options: .atomic)
  }
}
