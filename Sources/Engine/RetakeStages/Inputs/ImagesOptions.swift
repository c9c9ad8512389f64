import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeMedia

/// The files of an image source.
package struct ImagesOptions: StageOptions, Hashable {
  package static let explanations: [String: String] = [
    "fps": "frames per second, 0.001 to 1000",
    "path":
      "a PNG or JPEG file, or a folder of them, relative to the folder in which the "
      + "command runs; required",
  ]

  /// A PNG or JPEG file, or a folder of them; relative to the working folder. Required.
  package var path = ""
  /// Frames per second, 0.001 to 1,000.
  package var fps = 30.0

  package init() {}

  package init(path: String, fps: Double = 30) {
    (self.path, self.fps) = (path, fps)
  }
}
