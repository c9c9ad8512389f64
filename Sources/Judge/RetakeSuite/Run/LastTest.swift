import Foundation
import RetakeCore
import RetakeGolden

/// Which goldens the last test left pending. Of a test of some sessions, the pending goldens of
/// earlier tests stay where they are, and no one has seen them in the output of the last one.
struct LastTest: Hashable, Codable {
  /// The largest file that is read: 10,000 keys are 1 MB at most.
  private static let bytesMax: Int64 = 4 << 20
  private static let fileName = ".retake/last-test.json"

  private var v = 1
  /// The folder of the pending goldens: of another folder this says nothing.
  private var root: String
  /// `session/case`, in order.
  private(set) var keys: [String]

  init(root: URL, keys: [GoldenLibrary.Key]) {
    self.root = root.standardizedFileURL.path
    self.keys = keys.sorted().map(\.description)
  }

  /// What the last test left pending in a folder; `nil` if that is not known.
  init?(reading project: Project, root: URL) {
    guard
      let data = try? RegularFile.contents(
        project.path(Self.fileName), bytesMax: Self.bytesMax),
      let known = try? JSONDecoder().decode(Self.self, from: data), known.v == 1,
      known.root == root.standardizedFileURL.path
    else { return nil }
    self = known
  }

  /// Notes it for the next `retake accept`. A project that cannot be written is tested all the same.
  func write(to project: Project) {
    guard (try? project.requireOwn(Self.fileName)) != nil else { return }
    let url = URL(fileURLWithPath: project.path(Self.fileName))
    guard !keys.isEmpty else {
      // Without anything pending no folder is made for it.
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
