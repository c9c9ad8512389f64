import Foundation
import RetakeCore
import RetakeMedia

/// An image of a window.
package enum Screenshot {
  /// Checks that a file can be created in the folder of a path, so that it is not found out after
  /// the run.
  ///
  /// - Throws: `PreviewError.notWritten`.
  package static func check(_ path: String) throws {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    var isFolder: ObjCBool = false
    let files = FileManager.default
    if files.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      throw PreviewError.notWritten(path: path, cause: "it is a folder")
    }
    guard files.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      throw PreviewError.notWritten(path: path, cause: "there is no such folder")
    }
    guard files.isWritableFile(atPath: folder) else {
      throw PreviewError.notWritten(path: path, cause: "the folder cannot be written to")
    }
  }

  /// - Throws: `PreviewError.renderer`, `.notWritten`, `MediaError`.
  static func write(_ canvas: Canvas, to path: String, _ output: FileHandle? = nil) throws {
    var picture = try canvas.painter.picture()
    picture = try MediaScaler().scale(picture, format: .rgb)
    let bytes = try MediaImage.png(picture)
    do {
      if let output {
        try output.write(contentsOf: Data(bytes))
      } else {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
      }
    } catch {
      throw PreviewError.notWritten(path: path, cause: error.systemText)
    }
  }
}
