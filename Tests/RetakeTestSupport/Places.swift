import Foundation

/// The folder of Package.swift.
package let packageRoot = URL(filePath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// The folder that the running tests were built into; the `retake` binary is next to them.
package let productsFolder =
  (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
  .resolvingSymlinksInPath().deletingLastPathComponent()

/// A clip of the media folder next to the package, or `nil` if it does not exist.
///
/// The clips are not part of the repository. A test that needs one is skipped without it, with
/// `.enabled(if: sharedMedia("clip.mp4") != nil, "clip.mp4 is not on this machine")`.
package func sharedMedia(_ name: String) -> URL? {
  let file = packageRoot.appending(path: "../shared/media/\(name)").standardizedFileURL
  return FileManager.default.isReadableFile(atPath: file.path) ? file : nil
}

/// The model `NAME.onnx` of the folder `RETAKE_MODELS`, or of `.models` in the package, or `nil` if
/// it does not exist. `Scripts/setup --with-models` fetches them.
package func fetchedModel(_ name: String) -> URL? {
  let folder = ProcessInfo.processInfo.environment["RETAKE_MODELS"].map { URL(filePath: $0) }
  let file = (folder ?? packageRoot.appending(path: ".models"))
    .appending(path: "\(name).onnx")
  return FileManager.default.isReadableFile(atPath: file.path) ? file : nil
}
