import Foundation

/// The folder of Package.swift.
package let packageRoot = URL(filePath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// The folder that the running tests were built into; the `retake` binary lies beside them.
package let productsFolder =
  (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
  .resolvingSymlinksInPath().deletingLastPathComponent()

/// A clip of the media folder beside the package, or nil where it is absent.
///
/// The clips are not part of the repository: a test that wants one is skipped without it, with
/// `.enabled(if: sharedMedia("clip.mp4") != nil, "clip.mp4 is not on this machine")`.
package func sharedMedia(_ name: String) -> URL? {
  let file = packageRoot.appending(path: "../shared/media/\(name)").standardizedFileURL
  return FileManager.default.isReadableFile(atPath: file.path) ? file : nil
}
