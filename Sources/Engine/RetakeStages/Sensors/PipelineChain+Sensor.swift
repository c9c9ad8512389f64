public import RetakeBuffers
public import RetakeCore
public import RetakeGraph

/// The stages that read sensors as methods. A name or a number that is out of bounds is a
/// programmer's mistake here; it stops the program with a message about the violated rule.
extension PipelineChain where Output == Frame {
  /// Returns the newest values of a sensor of the session when the frame arrived, by its channels.
  public func sensorLatest(_ sensor: String, id: String? = nil) -> PipelineChain<Scalars> {
    stage(SensorLatest.built(.init(sensor: sensor)), id: id)
  }

  /// Averages the samples of a sensor in a window that ends with the frame.
  ///
  /// - Parameter milliseconds: The length of the window, 1 to 600,000.
  public func sensorWindow(
    _ sensor: String, milliseconds: Int = 33, id: String? = nil
  ) -> PipelineChain<Scalars> {
    stage(SensorWindow.built(.init(sensor: sensor, milliseconds: milliseconds)), id: id)
  }

  /// Measures how much the camera turned in a window that ends with the frame, and how sharp the
  /// frame is: `turn` and `sharpness`.
  ///
  /// - Parameters:
  ///   - sensor: A gyroscope.
  ///   - milliseconds: The length of the window, 1 to 600,000.
  public func steadiness(
    sensor: String = "gyroscope", milliseconds: Int = 33, id: String? = nil
  ) -> PipelineChain<Scalars> {
    stage(Steadiness.built(.init(sensor: sensor, milliseconds: milliseconds)), id: id)
  }
}
