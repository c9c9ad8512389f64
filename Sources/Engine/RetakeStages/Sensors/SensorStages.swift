package import RetakeBuffers
package import RetakeCore
package import RetakeGraph

/// The sensor that a stage reads, and how far back.
package struct SensorOptions: StageOptions, Hashable {
  @OptionValue(LatestSensorOptions.meaning) package var sensor = "gyroscope"
  @OptionValue(
    "length of the window before the frame's time, in milliseconds; {range}", in: 1...600_000)
  package var milliseconds = 33

  package init() {}

  package init(sensor: String, milliseconds: Int = 33) {
    (self.sensor, self.milliseconds) = (sensor, milliseconds)
  }

  func check() throws {
    guard !sensor.isEmpty else { throw OptionError(key: "sensor", message: "names a sensor") }
    try checkRanges()
  }

  var window: SensorRead { .window(sensor, .milliseconds(milliseconds)) }
}

/// The options of a stage that reads the newest sample only.
package struct LatestSensorOptions: StageOptions, Hashable {
  static let meaning = "the sensor's name in the session; 'retake session info' lists them"

  @OptionValue(meaning) package var sensor = "gyroscope"

  package init() {}
  package init(sensor: String) { self.sensor = sensor }
}

/// The newest value of each channel of a sensor when the frame arrived; NaN before the first
/// sample.
package struct SensorLatest: PureStage {
  package static let kind = "sensor-latest"
  package static let summary = "returns the newest values of a sensor, by its channels"

  package let options: LatestSensorOptions
  package var sensors: [SensorRead] { [.latest(options.sensor)] }

  package init(options: LatestSensorOptions) throws {
    guard !options.sensor.isEmpty else {
      throw OptionError(key: "sensor", message: "names a sensor")
    }
    self.options = options
  }

  package func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    let reading = context.sensor(options.sensor)
    return Scalars(reading.track.channels.map { .init($0, reading[$0] ?? .nan) })
  }
}

/// The mean of each channel of a sensor in a window that ends with the frame, and the number of
/// samples in it, `samples`. A mean of no numbers is NaN.
package struct SensorWindow: PureStage {
  package static let kind = "sensor-window"
  package static let summary = "averages the samples of a sensor before each frame"

  package let options: SensorOptions
  package var sensors: [SensorRead] { [options.window] }

  package init(options: SensorOptions) throws {
    try options.check()
    self.options = options
  }

  package func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    let reading = context.sensor(options.sensor)
    var scalars = [Scalars.Entry("samples", Double(reading.window.count))]
    for (place, channel) in reading.track.channels.enumerated() {
      let values = reading.window.map { $0.values[place] }.filter { !$0.isNaN }
      // In the order of the samples, so that every machine adds in the same order.
      let mean = values.isEmpty ? .nan : values.reduce(0, +) / Double(values.count)
      scalars.append(.init(channel, mean))
    }
    return Scalars(scalars)
  }
}

/// How much a camera turned while a frame was taken, next to how sharp the frame is: a measure for
/// frames that are blurred because the camera moved.
///
/// `turn` is the root mean square of the angular velocity in the window, in the sensor's unit, over
/// all channels; NaN without samples. `sharpness` is the mean absolute difference of horizontally
/// adjacent luma samples, in levels.
package struct Steadiness: PureStage {
  package static let kind = "steadiness"
  package static let summary = "measures how much the camera turned, and how sharp the frame is"
  package static let inputFormats: [PixelFormat] = [.gray]

  package let options: SensorOptions
  package var sensors: [SensorRead] { [options.window] }

  package init(options: SensorOptions) throws {
    try options.check()
    self.options = options
  }

  package func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    let window = context.sensor(options.sensor).window
    var squares = 0.0
    for sample in window {
      for value in sample.values where !value.isNaN { squares += value * value }
    }
    let turn = window.isEmpty ? .nan : (squares / Double(window.count)).squareRoot()
    let pairs = max(1, (frame.width - 1) * frame.height)
    return Scalars([
      .init("turn", turn),
      .init("sharpness", Double(frame.neighborDifferences()) / Double(pairs)),
    ])
  }
}
