public import RetakeBuffers
public import RetakeCore

/// What a stage may use in addition to its input.
public struct StageContext: Sendable {
  /// The frame that is being processed.
  public var frame: FrameID
  /// The frame's presentation time on the session's time line, from the replay's origin.
  public var timestamp: Timestamp
  /// Index inside a forEach; `nil` for the whole frame.
  public var item: Int?
  /// What was read of each sensor that the stage names in `StageDefinition.sensors`.
  package(set) public var sensors: [SensorReading]
  /// The run that calls the stage; `nil` in a test.
  package var run: StageRun?
  /// The ID of the stage's node; empty in a test.
  package var node = ""
  /// Virtual time at which the call begins, from the replay's origin. Only set for a
  /// `ProgramInstance`: for another stage it is no part of what its output depends on.
  package var nowNanoseconds: Int64 = 0

  /// For a test that calls `process` itself; `item` is `nil` unless the stage is in a forEach.
  public init(
    frame: FrameID, timestamp: Timestamp, item: Int? = nil, sensors: [SensorReading] = []
  ) {
    self.frame = frame
    self.timestamp = timestamp
    self.item = item
    self.sensors = sensors
  }
}

/// The options of a stage: stored properties with defaults, in a `Codable` struct. A document may
/// set any of them. An unknown key or a wrong type is rejected when the document is read.
///
/// ```swift
/// struct BrightOptions: StageOptions {
///   static let explanations = ["above": "level above which a pixel is bright, 0 to 255"]
///   var above = 200
/// }
///
/// struct BrightPixels: PureStage {
///   typealias Options = BrightOptions
///   static let kind = "bright-pixels"
///   static let inputFormats: [PixelFormat] = [.gray]
///   let options: BrightOptions
///
///   init(options: BrightOptions) throws {
///     guard (0...255).contains(options.above) else {
///       throw OptionError(key: "above", message: "must be 0 to 255, is \(options.above)")
///     }
///     self.options = options
///   }
///
///   func process(_ frame: Frame, _ context: StageContext) -> Scalars {
///     let above = options.above
///     return Scalars([.init("bright", Double(frame.bytes(of: 0).count { $0 > above }))])
///   }
/// }
/// ```
///
/// A node of a document sets it like this:
///
/// ```json
/// {"id": "bright", "kind": "bright-pixels", "options": {"above": 220}}
/// ```
///
/// Optional properties are not recognized as options, so give every property a value.
public protocol StageOptions: Codable, Sendable {
  /// What each option means, by its name: one line with the unit and the range, for
  /// `retake pipeline stages`. An option without an entry is listed with its default alone.
  static var explanations: [String: String] { get }

  /// All defaults.
  init()
}

extension StageOptions {
  public static var explanations: [String: String] { [:] }
}

/// For stages without options.
public struct NoOptions: StageOptions {
  public init() {}
}

/// What pure and stateful stages have in common: a kind, a version and options.
public protocol StageDefinition: Sendable {
  /// The type of `options`, named by a `typealias`; a stage without options leaves it out.
  associatedtype Options: StageOptions = NoOptions

  /// The name in documents, `[a-z][A-Za-z0-9-]*`, unique in a registry.
  static var kind: String { get }
  /// Must be increased whenever the same input may give another output.
  static var version: Int { get }
  /// One line for `retake pipeline` and error messages.
  static var summary: String { get }
  /// Pixel formats that the body accepts, best first; empty means those of `PixelFormat.basic`, with
  /// 8 bits a sample. If a graph provides another format, a visible `convert` is inserted. A body
  /// that reads deep samples names their formats, such as `.i420(bits: 10)`.
  static var inputFormats: [PixelFormat] { get }
  /// Whether the output continues to use the input's memory, as a view of a frame does. In that
  /// case, the input's lease of a pool ends with the output's lease.
  static var keepsInput: Bool { get }

  /// What the output depends on in addition to input, version and options, such as the digest of a
  /// model's file. Values that were cached with another fingerprint are computed again.
  var fingerprint: String { get }

  /// What the stage reads of sensors for each frame; none by default. It may depend on the options.
  var sensors: [SensorRead] { get }

  /// A stage with default options. Structs get this initializer if every stored property has a
  /// value.
  init()

  /// Creates a stage from its options. Stages without options get this initializer.
  ///
  /// - Throws: `OptionError` if the options contradict each other.
  init(options: Options) throws

  /// The options that the stage was made with. The pipeline's document contains all of them.
  var options: Options { get }

  /// The format of the output frames, for stages that output frames.
  func outputFormat(for input: PixelFormat) -> PixelFormat

  /// The part of the input that the output frames show; `nil`, the default, means all of it, pixel
  /// by pixel. A stage that crops or scales must implement this: reports draw results from behind
  /// it over the source's frame.
  func view(of input: ImageShape) -> ImageView?
}

extension StageDefinition {
  public static var version: Int { 1 }
  public static var summary: String { "" }
  public static var inputFormats: [PixelFormat] { [] }
  public static var keepsInput: Bool { false }
  public var fingerprint: String { "" }
  public var sensors: [SensorRead] { [] }

  public func outputFormat(for input: PixelFormat) -> PixelFormat { input }
  public func view(of input: ImageShape) -> ImageView? { nil }
}

extension StageDefinition {
  /// A stage with default options. If it refuses them, the process ends.
  public init() {
    do {
      try self.init(options: Options())
    } catch {
      // A mistake in the stage: without options, no document and no program could make it.
      requirementFailure("the default options of the stage '\(Self.kind)' are refused: \(error)")
    }
  }
}

extension StageDefinition where Options == NoOptions {
  /// Nothing to set.
  public var options: NoOptions { NoOptions() }

  /// Ends the process: a stage without options needs an `init()` of its own.
  public init() {
    requirementFailure(
      "the stage '\(Self.kind)' has no options and no init(): give each stored property a value, "
        + "and a public struct a 'public init() {}'")
  }

  /// The same as `init()`.
  public init(options: NoOptions) {
    self.init()
  }
}

/// A computation whose output depends only on its input and options. It may run on any thread, for
/// any frame, in any order, and ahead of virtual time.
///
/// ```swift
/// struct BrightPixels: PureStage {
///   static let kind = "bright-pixels"
///   static let inputFormats: [PixelFormat] = [.gray]
///
///   func process(_ frame: Frame, _ context: StageContext) -> Scalars {
///     Scalars([.init("bright", Double(frame.bytes(of: 0).count { $0 > 200 }))])
///   }
/// }
///
/// let pipeline = Pipeline.named("first").source(.session()).gray().stage(BrightPixels()).results()
/// ```
public protocol PureStage: StageDefinition {
  /// The value that the stage takes; `Joined` behind a join, `Region` first in a forEach.
  associatedtype Input: PipelineValue
  /// The value that the stage returns: a kind of Retake's, or a `StageValue` of your own.
  associatedtype Output: PipelineValue
  /// The error type of the body; with `Never` (the default), a replay never has to wait for its
  /// outcome.
  associatedtype Failure: Error = Never

  /// Computes the output for one frame, or for one item of a forEach. Several threads may call it
  /// at once.
  ///
  /// - Throws: A `StageError`, or any error of your own, which fails the frame with the code
  ///   `error.` and the name of its type.
  func process(_ input: Input, _ context: StageContext) throws(Failure) -> Output
}

/// A computation that keeps state. It gets the frames in the order in which virtual time serves
/// them, one at a time.
///
/// ```swift
/// struct Change: StatefulStage {
///   static let kind = "change"
///   private var last: Double?
///
///   mutating func process(_ input: Scalars, _ context: StageContext) -> Scalars {
///     let bright = input["bright"] ?? 0
///     defer { last = bright }
///     return Scalars([.init("change", bright - (last ?? bright))])
///   }
///
///   mutating func reset() { last = nil }
/// }
/// ```
///
/// Frames that were dropped before the stage are missing from what it gets.
public protocol StatefulStage: StageDefinition {
  /// The value that the stage takes; `Joined` behind a join, `Region` first in a forEach.
  associatedtype Input: PipelineValue
  /// The value that the stage returns: a kind of Retake's, or a `StageValue` of your own.
  associatedtype Output: PipelineValue
  /// The error type of the body; with `Never` (the default), a replay never has to wait for its
  /// outcome.
  associatedtype Failure: Error = Never

  /// Computes the output for the next frame. Calls come one at a time, perhaps on different
  /// threads.
  ///
  /// - Throws: A `StageError`, or any error of your own, which fails the frame with the code
  ///   `error.` and the name of its type.
  mutating func process(_ input: Input, _ context: StageContext) throws(Failure) -> Output
  /// Clears the state, as if the stage had just been created.
  mutating func reset()
}

/// A stage's options contradict each other or are out of range.
public struct OptionError: Error, Sendable {
  /// The option's key.
  public var key: String
  /// The problem, such as "must be at least 1".
  public var message: String

  /// Thrown from `StageDefinition.init(options:)`. A document's error then points to the option.
  public init(key: String, message: String) {
    self.key = key
    self.message = message
  }
}

/// An error that a stage's body throws on purpose.
public struct StageError: Error, Sendable, Hashable {
  /// Whether the run continues after the error.
  public enum Severity: String, Sendable {
    /// This frame fails; the run continues.
    case recoverable
    /// The run halts.
    case unrecoverable
  }

  /// Stable and without spaces, because it appears in golden files.
  public var code: String
  /// For people: part of no digest and no golden file. A failure keeps its first 1,000 characters.
  public var message: String
  /// `.recoverable` by default.
  public var severity: Severity

  /// The process ends if the code is empty or contains a space or a control character.
  public init(code: String, message: String, severity: Severity = .recoverable) {
    requirement(
      !code.isEmpty && !code.utf8.contains { $0 <= 0x20 || $0 == 0x7f },
      "a stage error's code has no spaces")
    self.code = code
    self.message = message
    self.severity = severity
  }

  /// Any error of a body as a stage error. Other types are recoverable; their code contains the
  /// name of the type.
  package init(wrapping error: any Error) {
    if let error = error as? StageError {
      self = error
    } else {
      // The name of a generic type has spaces, and a code is one word in decision lines.
      let name = String(describing: type(of: error)).filter { $0.isASCII && !$0.isWhitespace }
      self.init(code: "error.\(name)", message: String(describing: error))
    }
  }
}

/// An error that a user's code threw outside a stage's body, such as a source that cannot be
/// opened, with its own code and message.
package struct UserError: RetakeError {
  package let facts: ErrorFacts

  package init(_ error: any Error) {
    let error = StageError(wrapping: error)
    facts = ErrorFacts(error.code, error.message)
  }
}
