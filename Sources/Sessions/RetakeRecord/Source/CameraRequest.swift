import RetakeMedia

/// Requested settings of a camera; nil leaves a setting unchanged.
public struct CameraRequest: Hashable, Sendable {
  let width: Int?
  let height: Int?
  let framesPerSecond: Int?

  /// By default, all settings of the camera stay as they are.
  ///
  /// - Parameters:
  ///   - width: In pixels; set both width and height, or neither.
  ///   - height: In pixels; without `width` it is not used.
  ///   - framesPerSecond: `nil` leaves the rate to the camera.
  public init(width: Int? = nil, height: Int? = nil, framesPerSecond: Int? = nil) {
    (self.width, self.height, self.framesPerSecond) = (width, height, framesPerSecond)
  }

  var settings: CameraSettings {
    var settings = CameraSettings()
    if let width, let height { settings.size = (width, height) }
    settings.framesPerSecond = framesPerSecond
    return settings
  }
}
