import Foundation
import RetakeGraph

/// The files of an image source.
package struct ImagesOptions: StageOptions, Hashable {
  @OptionValue(
    "a PNG or JPEG file, or a folder of them, relative to the folder in which the command runs; "
      + "required")
  package var path = ""
  @OptionValue("frames per second, 0.001 to 1000") package var fps = 30.0

  package init() {}

  package init(path: String, fps: Double = 30) {
    (self.path, self.fps) = (path, fps)
  }
}
