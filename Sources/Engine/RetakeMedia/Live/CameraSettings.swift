/// Requested settings of a camera; it may not support them.
package struct CameraSettings: Hashable, Sendable {
  /// In pixels; nil keeps the camera's setting.
  package var size: (width: Int, height: Int)? {
    get { pixels.map { ($0.width, $0.height) } }
    set { pixels = newValue.map { Pixels(width: $0.width, height: $0.height) } }
  }
  package var framesPerSecond: Int?
  private var pixels: Pixels?

  private struct Pixels: Hashable, Sendable {
    var width: Int
    var height: Int
  }

  package init() {}

  var options: [(name: String, value: String)] {
    var options: [(name: String, value: String)] = []
    if let pixels { options.append(("video_size", "\(pixels.width)x\(pixels.height)")) }
    if let framesPerSecond { options.append(("framerate", "\(framesPerSecond)")) }
    return options
  }
}
