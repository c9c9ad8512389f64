import RetakeCore

/// The samples of a sensor that a stage reads for each frame. A stage returns its reads from
/// `sensors`, and receives the samples in its `StageContext`.
///
/// ```swift
/// struct Blur: PureStage {
///   static let kind = "blur"
///   var sensors: [SensorRead] { [.window("gyroscope", .milliseconds(33))] }
///
///   func process(_ frame: Frame, _ context: StageContext) -> Scalars {
///     let turns = context.sensor("gyroscope").window.map { $0.values[0] }
///     return Scalars([.init("turn", turns.reduce(0, +) / Double(max(1, turns.count)))])
///   }
/// }
/// ```
///
/// A sample that arrives after the frame is not read. `docs/sensors.md` has the rule,
/// `sensor-read`.
public struct SensorRead: Hashable, Sendable {
  /// The sensor's name in the session.
  public var sensor: String
  /// How long before the frame's presentation time the window begins; zero without a window.
  public var length: Duration

  /// The newest sample at the frame's arrival.
  public static func latest(_ sensor: String) -> SensorRead {
    SensorRead(sensor: sensor, length: .zero)
  }

  /// The samples in the time `length` before the frame's presentation time, and the newest one.
  public static func window(_ sensor: String, _ length: Duration) -> SensorRead {
    SensorRead(sensor: sensor, length: length)
  }
}

extension StageContext {
  /// The samples of a sensor that the stage names in `sensors`. For any other sensor the process
  /// ends.
  public func sensor(_ name: String) -> SensorReading {
    guard let reading = sensors.first(where: { $0.track.name == name }) else {
      requirementFailure(
        "the stage reads the sensor '\(name)', which is not among its 'sensors': "
          + "\(sensors.map(\.track.name))")
    }
    return reading
  }
}

extension AnyStage {
  /// Reads the sensors of a stage for one frame.
  package typealias SensorLookup =
    @Sendable ([SensorRead], StageContext) throws -> [SensorReading]

  /// The same stage, with the samples of its sensors in its context.
  ///
  /// - Parameter fingerprint: Of all samples: the output depends on them, too.
  package func reading(fingerprint: String, _ lookup: @escaping SensorLookup) -> AnyStage {
    guard !sensorReads.isEmpty else { return self }
    let reads = sensorReads
    let filled: @Sendable (StageContext) -> Result<StageContext, StageError> = { context in
      Result {
        var context = context
        context.sensors = try lookup(reads, context)
        return context
      }.mapError { error in
        let coded = error as? any CodedError
        return StageError(
          code: coded?.code ?? "sensor.read", message: coded?.message ?? error.causeText,
          severity: .unrecoverable)
      }
    }
    let body: Body
    switch self.body {
    case .pure(let process):
      body = .pure { input, context in filled(context).flatMap { process(input, $0) } }
    case .stateful(let make):
      body = .stateful { SensorInstance(instance: make(), filled: filled) }
    default: return self
    }
    return connected(body, fingerprint: fingerprint)
  }
}

/// A stateful stage with the samples of its sensors in its context.
private final class SensorInstance: StageInstance {
  private let instance: any StageInstance
  private let filled: @Sendable (StageContext) -> Result<StageContext, StageError>

  init(
    instance: any StageInstance,
    filled: @escaping @Sendable (StageContext) -> Result<StageContext, StageError>
  ) {
    (self.instance, self.filled) = (instance, filled)
  }

  func process(_ input: any PipelineValue, _ context: StageContext) -> StageOutcome {
    filled(context).flatMap { instance.process(input, $0) }
  }

  func reset() { instance.reset() }
}

extension Pipeline {
  /// The reads of all stages, including stages in a forEach, each once, in the order of the nodes.
  package var sensorReads: [SensorRead] {
    var known: Set<SensorRead> = []
    return flattened().nodes.flatMap(\.stage.sensorReads).filter { known.insert($0).inserted }
  }

  /// The same pipeline, with the samples of each stage's sensors in its context.
  package func reading(
    fingerprint: String, _ lookup: @escaping AnyStage.SensorLookup
  ) -> Pipeline {
    var pipeline = self
    for index in pipeline.nodes.indices {
      pipeline.nodes[index].stage = nodes[index].stage.reading(fingerprint: fingerprint, lookup)
      guard var body = nodes[index].body else { continue }
      for inner in body.nodes.indices {
        body.nodes[inner].stage = body.nodes[inner].stage.reading(fingerprint: fingerprint, lookup)
      }
      pipeline.nodes[index].body = body
    }
    return pipeline
  }
}
