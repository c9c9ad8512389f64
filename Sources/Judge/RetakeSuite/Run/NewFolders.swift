import Foundation

/// The missing folders on the path to a folder, so that they can be removed again.
struct NewFolders {
  /// Deepest first.
  private let paths: [String]

  init(upTo folder: URL) {
    var paths: [String] = []
    var url = folder.standardizedFileURL
    // Ends at the root folder, which always exists.
    while !FileManager.default.fileExists(atPath: url.path) {
      paths.append(url.path)
      url.deleteLastPathComponent()
    }
    self.paths = paths
  }

  /// Removes the folders that are empty.
  func removeEmpty() {
    // A folder that is not empty keeps all folders above it from being empty.
    for path in paths where rmdir(path) != 0 { return }
  }
}
