/// The renderer of a window, and the device that computes its pixels.
package struct WindowRenderer: Hashable, Sendable, Codable {
  /// `opengl`, `opengles2`, or the name of a renderer of SDL, such as `software`.
  package var name: String
  /// The device that computes the pixels, as its driver names it; `nil` if the renderer does not
  /// say.
  package var device: String?
  /// Whether the processor computes the pixels, because there is no GPU.
  package var isSoftware: Bool
  /// Why there is no OpenGL; `nil` if there is, or if another renderer was requested.
  package var fallbackCause: String?

  init(name: String, device: String? = nil, isSoftware: Bool, fallbackCause: String? = nil) {
    (self.name, self.device, self.isSoftware) = (name, device, isSoftware)
    self.fallbackCause = fallbackCause
  }

  static let desktop = "opengl"
  /// SDL's name of OpenGL ES, of any version.
  static let embedded = "opengles2"

  /// Whether a driver of OpenGL computes on the processor. Mesa and ANGLE have such drivers.
  static func isSoftware(device: String) -> Bool {
    let name = device.lowercased()
    return ["llvmpipe", "softpipe", "swrast", "swiftshader", "software"].contains {
      name.contains($0)
    }
  }
}
