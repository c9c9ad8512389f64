import RetakeBuffers
import RetakeCore

/// The part that a kind of node plays in a graph.
public enum StageRole: Hashable, Sendable {
  case source
  case pure
  case stateful
  /// Thins frames by their time; takes no server.
  case throttle
  /// Thins frames by their number; takes no server.
  case sample
  /// Sends each frame to one of its ports, by its value.
  case route
  /// Pairs the frames of its ports: goes on with all of them, or with what there is.
  case join
  /// Goes on with each frame of its first port and the newest value of the others.
  case latest
  /// Hands the items of a frame to the body of a forEach, one at a time.
  case fork
  /// Gathers a forEach's items again, in their order.
  case gather
  case sink

  /// Whether a server works on the frames: such nodes have a cost.
  package var isServed: Bool { self == .pure || self == .stateful }
}

/// What a graph needs to know of a kind of node to be checked.
public struct StageSignature: Hashable, Sendable {
  public var kind: String
  public var version: Int
  public var role: StageRole
  /// `nil` for sources, and for nodes that take anything.
  public var input: ValueKind?
  /// `nil` for sinks, and for nodes that pass on what they get.
  public var output: ValueKind?
  public var inputFormats: [PixelFormat]
  /// Whether the body can throw: replay waits for its outcome.
  public var canFail: Bool
  /// Whether the output goes on using the memory of the input.
  public var keepsInput = false
  public var summary: String

  public init(
    kind: String, version: Int, role: StageRole, input: ValueKind?, output: ValueKind?,
    inputFormats: [PixelFormat] = [], canFail: Bool = false, summary: String = ""
  ) {
    self.kind = kind
    self.version = version
    self.role = role
    self.input = input
    self.output = output
    self.inputFormats = inputFormats
    self.canFail = canFail
    self.summary = summary
  }
}

/// The outcome of one call of a stage's body.
package typealias StageOutcome = Result<any PipelineValue, StageError>

/// A stateful stage's memory in one run. Calls come one at a time, in service order; whoever makes
/// them orders them, so this needs no lock.
package protocol StageInstance: AnyObject, Sendable {
  func process(_ input: any PipelineValue, _ context: StageContext) -> StageOutcome
  func reset()
}

/// A node's body and options, whatever its types: what a registry makes of a document's node, and
/// what the typed words of the DSL carry.
public struct AnyStage: Sendable {
  /// The kind of sink that takes values and writes nothing of them.
  package static let discardKind = "discard"
  /// The kind of sink whose lines a run writes to a file of their own where it is asked to.
  package static let metadataKind = "metadata"
  /// The kind of sink that shows pictures at the beat of a screen.
  package static let screenKind = "screen"
  /// The kind of source that reads the session which the caller names.
  package static let sessionKind = "session"

  package enum Body: Sendable {
    case pure(@Sendable (any PipelineValue, StageContext) -> StageOutcome)
    case stateful(@Sendable () -> any StageInstance)
    /// A frame source; the runtime knows its protocol.
    case source(any Sendable)
    case throttle(DevicePolicy)
    /// One frame of so many passes.
    case sample(Int)
    /// The index of the port that a value goes to.
    case route(@Sendable (any PipelineValue) -> Int)
    case join(JoinMode)
    case latest
    case fork
    case gather
    case sink(@Sendable (SinkDelivery) -> Void)
  }

  public let signature: StageSignature
  /// Every option with its value, in canonical form.
  public let options: JSONValue
  /// `false` for closures without an identity: such a pipeline runs but has no document.
  public let isExportable: Bool
  package let body: Body
  package let outputFormat: @Sendable (PixelFormat) -> PixelFormat
  package private(set) var pictureView: @Sendable (PictureShape) -> PictureView? = { _ in nil }
  /// Names of the inputs of a join, in order; empty where there is one input.
  package var inputPorts: [String] = []
  /// Names of the outputs of a route, in order; empty where there is one output.
  package var outputPorts: [String] = []
  /// When a sink that is a screen shows what came; `nil` for all else.
  package var screen: ScreenClock?
  /// `StageDefinition.fingerprint`.
  package var fingerprint = ""
  /// How the output is kept as bytes; `nil` where it cannot be, or holds pixels.
  package var outputForm: ValueForm?
  /// Tells one closure from another; stages with a document form are told apart by that.
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
    closure = isExportable ? nil : ClosureIdentity()
  }

  /// Whether both do the same: they have the same document form, or are copies of one closure.
  package func isSame(as other: AnyStage) -> Bool {
    signature == other.signature && options == other.options && closure === other.closure
      && inputPorts == other.inputPorts && outputPorts == other.outputPorts
  }

  public init<Stage: PureStage>(_ stage: Stage) {
    self.init(
      signature: Stage.signature, options: Self.canonical(stage.options),
      body: .pure { input, context in
        guard let typed = input as? Stage.Input else { return .failure(.wrongInput(Stage.kind)) }
        do throws(Stage.Failure) {
          return .success(try stage.process(typed, context))
        } catch {
          return .failure(StageError(wrapping: error))
        }
      }, outputFormat: stage.outputFormat)
    fingerprint = stage.fingerprint
    outputForm = ValueForm(Stage.Output.self)
    pictureView = stage.view
  }

  public init<Stage: StatefulStage>(_ stage: Stage) {
    self.init(
      signature: Stage.signature, options: Self.canonical(stage.options),
      body: .stateful { StatefulBox(stage) }, outputFormat: stage.outputFormat)
    pictureView = stage.view
  }

  /// Options are plain stored properties, so encoding them cannot fail but for a user's own
  /// `encode(to:)`; that mistake is the programmer's.
  package static func canonical(_ options: some StageOptions) -> JSONValue {
    do {
      return try JSONValue(encoding: options)
    } catch {
      requirementFailure("stage options encode to JSON: \(error)")
    }
  }
}

/// One closure; copies of a stage share it.
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
  static func wrongInput(_ kind: String) -> StageError {
    StageError(
      code: "stage.wrongInput", message: "\(kind) was given a value of another type",
      severity: .unrecoverable)
  }
}

/// One run's copy of a stateful stage.
private final class StatefulBox<Stage: StatefulStage>: StageInstance, @unchecked Sendable {
  // SAFETY: @unchecked; the chain of service order makes every call happen before the next.
  private var stage: Stage

  init(_ stage: Stage) {
    self.stage = stage
    self.stage.reset()
  }

  func process(_ input: any PipelineValue, _ context: StageContext) -> StageOutcome {
    guard let typed = input as? Stage.Input else { return .failure(.wrongInput(Stage.kind)) }
    do throws(Stage.Failure) {
      return .success(try stage.process(typed, context))
    } catch {
      return .failure(StageError(wrapping: error))
    }
  }

  func reset() { stage.reset() }
}

/// What a closure sink is told of one captured frame.
public struct SinkDelivery: Sendable {
  public enum Content: Sendable {
    case value(any PipelineValue)
    case ended(FrameFate, node: String)
  }

  public var frame: FrameID
  public var timestamp: Timestamp
  public var content: Content
  /// Live, in a pipeline with pools: keep it for as long as the frame is looked at.
  public var lease: FrameLease?
  /// Why the frame ended, if a stage or its source failed: also the failure that halts the run, at
  /// its frame.
  public var failure: StageFailure?

  public init(
    frame: FrameID, timestamp: Timestamp, content: Content, lease: FrameLease? = nil,
    failure: StageFailure? = nil
  ) {
    self.frame = frame
    self.timestamp = timestamp
    self.content = content
    self.lease = lease
    self.failure = failure
  }

  /// The value that came, or why there is none.
  ///
  /// - Returns: `nil` for a frame that was dropped, thinned out, superseded or left in flight, and
  ///   for a value of another type.
  public func result<Value: PipelineValue>(
    as type: Value.Type = Value.self
  ) -> Result<Value, StageFailure>? {
    switch content {
    case .value(let value): (value as? Value).map { .success($0) }
    case .ended: failure.map { .failure($0) }
    }
  }
}
