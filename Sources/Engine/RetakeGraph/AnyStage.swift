package import RetakeBuffers
package import RetakeCore

/// A stage that computes a model from a file.
package protocol ModelStage: Sendable {
  /// SHA-256 of the model's file and of its companion files, by path.
  var modelFiles: [String: String] { get }
  /// The device that computes the model; `nil` for the processor.
  var modelDevice: ModelDevice? { get }
}

/// A stage that returns stored results of a file.
package protocol StoredStage: Sendable {
  /// SHA-256 of the files, by path.
  var storedFiles: [String: String] { get }
  /// Checks that the results are of these frames, before a replay begins.
  ///
  /// - Parameter counts: The number of frames by track.
  /// - Throws: An error that names the first result without a frame.
  func requireFrames(_ counts: [Int: Int]) throws
}

/// A stateful stage whose output depends on a given number of its last calls, and on no others.
package protocol ShortMemory: StatefulStage {
  /// After this number of calls that returned a value, the output no longer depends on earlier
  /// calls. A call that throws may be remembered or not.
  static var callsRemembered: Int { get }
}

/// The outcome of one call of a stage's body.
package typealias StageOutcome = Result<any PipelineValue, StageError>

/// Computes the frames of a batch in one call: an outcome for each of them, in order.
package typealias BatchBody =
  @Sendable ([(input: any PipelineValue, context: StageContext)]) -> [StageOutcome]

/// A node's body and options, with its types erased. A registry creates it from a node of a
/// document, and the typed methods of the DSL contain it.
public struct AnyStage: Sendable {
  /// The kind of sink that accepts values and writes nothing.
  package static let discardKind = "discard"
  /// The kind of sink whose lines a run writes to a separate file on request.
  package static let metadataKind = "metadata"
  /// The kind of sink that shows images at the refresh rate of a screen.
  package static let screenKind = "screen"
  /// The kind of source that reads the session given by the caller.
  package static let sessionKind = "session"

  package enum Body: Sendable {
    case pure(@Sendable (any PipelineValue, StageContext) -> StageOutcome)
    case stateful(@Sendable () -> any StageInstance)
    /// A frame source; the runtime knows its protocol.
    case source(any Sendable)
    case throttle(DevicePolicy)
    /// One frame out of this number passes.
    case sample(Int)
    /// The index of the port to which a value goes.
    case route(@Sendable (any PipelineValue) -> Int)
    case join(JoinMode)
    case latest
    case fork
    case gather
    case sink(@Sendable (SinkDelivery) -> Void)
  }

  /// The kind, role and types by which a graph checks the node.
  public private(set) var signature: StageSignature
  /// Every option with its value, in canonical form.
  package let options: JSONValue
  /// `false` for closures without an identity. Such a pipeline runs, but has no document.
  package let isExportable: Bool
  package private(set) var body: Body
  /// The outcomes equal those of `body` for each frame. `nil`: the frames of a batch are computed
  /// one by one.
  package var batchBody: BatchBody?
  package let outputFormat: @Sendable (PixelFormat) -> PixelFormat
  package private(set) var pictureView: @Sendable (ImageShape) -> ImageView? = { _ in nil }
  /// The names of the inputs of a join, in order; empty if there is one input.
  package var inputPorts: [String] = []
  /// The names of the outputs of a route, in order; empty if there is one output.
  package var outputPorts: [String] = []
  /// When a screen shows its image; `nil` if the node is not a screen.
  package var screen: ScreenClock?
  /// `StageDefinition.fingerprint`.
  package var fingerprint = ""
  /// The same without facts of the machine: other machines with this text compute the same values.
  /// Empty for models, because `modelFiles` identifies them.
  package var sharedFingerprint = ""
  /// `ModelStage.modelFiles`.
  package var modelFiles: [String: String] = [:]
  /// `ModelStage.modelDevice`.
  package var modelDevice: ModelDevice?
  /// The stage itself if it returns stored results.
  package var stored: (any StoredStage)?
  /// SHA-256 of the files that the command of a program names, by their paths in the command.
  package var programFiles: [String: String] = [:]
  /// `ShortMemory.callsRemembered`; `nil` if a stateful stage may remember all of its calls.
  package private(set) var callsRemembered: Int?
  /// The sensors that the stage reads for each frame; empty once it is connected to them.
  package private(set) var sensorReads: [SensorRead] = []
  /// For a whole program, the names of its sinks in byte order; `nil` for any other stage.
  package var programSinks: [String]?
  /// How the output is stored as bytes; `nil` if it cannot be stored, or contains pixels.
  package var outputForm: ValueForm?
  /// Distinguishes closures. Stages with a document form are distinguished by that form.
  private let closure: ClosureIdentity?

  package init(
    signature: StageSignature, options: JSONValue, body: Body, isExportable: Bool = true,
    outputFormat: @escaping @Sendable (PixelFormat) -> PixelFormat = { $0 }
  ) {
    self.signature = signature
    self.options = options
    self.body = body
    self.isExportable = isExportable
    self.outputFormat = outputFormat
    // Swift cannot compare functions, so the copies of a closure share an object.
    closure = isExportable ? nil : ClosureIdentity()
  }

  /// Whether both do the same: they have the same document form, or are copies of the same closure.
  package func isSame(as other: AnyStage) -> Bool {
    signature == other.signature && options == other.options && closure === other.closure
      && inputPorts == other.inputPorts && outputPorts == other.outputPorts
  }

  /// A pure stage without its types, for example for `LiveSession.swap`. If it is given a value of
  /// another type than its input, the run halts with the code `stage.wrongInput`.
  ///
  /// The options are encoded as JSON. If that fails, the process ends.
  public init<Stage: PureStage>(_ stage: Stage) {
    let reads = stage.sensors
    self.init(
      signature: Stage.signature, options: Self.canonical(stage.options),
      body: .pure { input, context in
        // `validate` compares kinds, and two types of a user may have the same name and version.
        guard let typed = input as? Stage.Input else { return .failure(.wrongInput(Stage.kind)) }
        guard reads.isEmpty || !context.sensors.isEmpty else { return .failure(.noSensors(reads)) }
        do throws(Stage.Failure) {
          return .success(try stage.process(typed, context))
        } catch {
          return .failure(StageError(wrapping: error))
        }
      }, outputFormat: stage.outputFormat)
    fingerprint = stage.fingerprint
    modelFiles = (stage as? any ModelStage)?.modelFiles ?? [:]
    if modelFiles.isEmpty { sharedFingerprint = fingerprint }
    modelDevice = (stage as? any ModelStage)?.modelDevice
    stored = stage as? any StoredStage
    batchBody = (stage as? any BatchStage)?.batchBody
    outputForm = ValueForm(Stage.Output.self)
    pictureView = stage.view
    sensorReads = reads
  }

  /// A stateful stage without its types. Each run has its own copy, which begins with `reset()`.
  ///
  /// The options are encoded as JSON. If that fails, the process ends.
  public init<Stage: StatefulStage>(_ stage: Stage) {
    self.init(
      signature: Stage.signature, options: Self.canonical(stage.options),
      body: .stateful { StatefulBox(stage) }, outputFormat: stage.outputFormat)
    sharedFingerprint = stage.fingerprint
    callsRemembered = (Stage.self as? any ShortMemory.Type)?.callsRemembered
    pictureView = stage.view
    sensorReads = stage.sensors
  }

  /// Sets the sensors that the stage reads, for stages whose node names them.
  package mutating func read(_ reads: [SensorRead]) { sensorReads = reads }

  /// The same node with another body. Everything else stays, such as the ports of a join and the
  /// clock of a screen, because the time plane decides by them.
  package func replacingBody(_ body: Body) -> AnyStage {
    var stage = self
    (stage.body, stage.batchBody) = (body, nil)
    return stage
  }

  /// The same stage, but virtual time waits for its outcome.
  package var thatCanFail: AnyStage {
    var stage = self
    stage.signature.canFail = true
    return stage
  }

  /// The same stage, connected to sensors: reading them may fail.
  func connected(_ body: Body, fingerprint: String) -> AnyStage {
    var stage = self
    (stage.body, stage.batchBody) = (body, nil)
    stage.signature.canFail = true
    stage.fingerprint += fingerprint
    stage.sharedFingerprint += fingerprint
    stage.sensorReads = []
    return stage
  }

  /// Options are plain stored properties, so encoding them can only fail in a user's own
  /// `encode(to:)`, which is a programmer's mistake.
  package static func canonical(_ options: some StageOptions) -> JSONValue {
    do {
      return try JSONValue(encoding: options)
    } catch {
      requirementFailure("stage options encode to JSON: \(error)")
    }
  }
}

/// The identity of a closure. Copies of a stage share it.
private final class ClosureIdentity: Sendable {}

extension PureStage {
  package static var signature: StageSignature {
    var signature = StageSignature(
      kind: kind, version: version, role: .pure, input: Input.valueKind,
      output: Output.valueKind, inputFormats: inputFormats, canFail: Failure.self != Never.self,
      summary: summary)
    signature.keepsInput = keepsInput
    return signature
  }
}

extension StatefulStage {
  package static var signature: StageSignature {
    var signature = StageSignature(
      kind: kind, version: version, role: .stateful, input: Input.valueKind,
      output: Output.valueKind, inputFormats: inputFormats, canFail: Failure.self != Never.self,
      summary: summary)
    signature.keepsInput = keepsInput
    return signature
  }
}

extension StageError {
  package static func noSensors(_ reads: [SensorRead]) -> StageError {
    StageError(
      code: "sensor.none",
      message: "the stage reads \(reads.map(\.sensor).joined(separator: ", ")), and runs without "
        + "a session or a recorder that has sensors", severity: .unrecoverable)
  }

  static func wrongInput(_ kind: String) -> StageError {
    StageError(
      code: "stage.wrongInput", message: "\(kind) was given a value of another type",
      severity: .unrecoverable)
  }
}

/// The copy of a stateful stage for one run.
private final class StatefulBox<Stage: StatefulStage>: StageInstance, @unchecked Sendable {
  // SAFETY: @unchecked; calls are made in service order, so each call happens before the next one.
  private var stage: Stage
  private let reads: [SensorRead]

  init(_ stage: Stage) {
    self.stage = stage
    reads = stage.sensors
    // The value that a user passed may have been used before; a run begins without its memory.
    self.stage.reset()
  }

  func process(_ input: any PipelineValue, _ context: StageContext) -> StageOutcome {
    guard let typed = input as? Stage.Input else { return .failure(.wrongInput(Stage.kind)) }
    guard reads.isEmpty || !context.sensors.isEmpty else { return .failure(.noSensors(reads)) }
    do throws(Stage.Failure) {
      return .success(try stage.process(typed, context))
    } catch {
      return .failure(StageError(wrapping: error))
    }
  }

  func reset() { stage.reset() }
}
