import Foundation

/// Python with the packages of other people that judge results: `Tests/Judges`.
package enum Judges {
  /// The folder of `python3` of `Scripts/setup --with-judges`; `nil` without it.
  package static let folder: String? = {
    let folder = packageRoot.appending(path: ".build/judges/bin")
    let isThere = FileManager.default.isExecutableFile(
      atPath: folder.appending(path: "python3").path)
    return isThere ? folder.path : nil
  }()

  package static let python = folder.map { "\($0)/python3" } ?? "python3"

  /// Whether Python can import the modules: `"cv2, numpy"`.
  package static func has(_ modules: String) -> Bool {
    (try? runCommand(python, arguments: ["-c", "import \(modules)"]).status) == 0
  }
}
