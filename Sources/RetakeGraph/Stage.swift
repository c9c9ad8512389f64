import RetakeBuffers
import RetakeCore

/// What a stage may use in addition to its input.
public struct StageContext: Sendable {
  /// The frame that is being processed.
  public var frame: FrameID
  /// The frame's presentation time on the session's time line, from the replay's origin.
  public var timestamp: Timestamp
  /// Index inside a forEach; `nil` for the whole frame.
  public var item: Int?

  public init(frame: FrameID, timestamp: Timestamp, item: Int? = nil) {
    self.frame = frame
    self.timestamp = timestamp
    self.item = item
  }
}

/// The options of a stage: stored properties with defaults, in a `Codable` struct. A document may
/// set any of them. An unknown key or a wrong type is rejected when the document is read.
///
/// Optional properties are not recognised as options, so give every property a value.
public protocol StageOptions: Codable, Sendable {
  /// All defaults.
  init()
}

/// For stages without options.
public struct NoOptions: StageOptions {
  public init() {}
}

/// What pure and stateful stages have in common: a kind, a version and options.
public protocol StageDefinition: Sendable {
  associatedtype Options: StageOptions = NoOptions

  /// The name in documents, `[a-z][A-Za-z0-9-]*`, unique in a registry.
  static var kind: String { get }
  /// Must be increased whenever the same input may give another output.
  static var version: Int { get }
  /// One line for `retake pipeline` and error messages.
  static var summary: String { get }
  /// Pixel formats that the body accepts, best first; empty means any. If a graph provides another
  /// format, a visible `convert` is inserted.
  static var inputFormats: [PixelFormat] { get }
  /// Whether the output continues to use the input's memory, as a view of a frame does. In that
  /// case, the input's lease of a pool ends with the output's lease.
  static var keepsInput: Bool { get }

  /// What the output depends on in addition to input, version and options, such as the digest of a
  /// model's file. Values that were cached with another fingerprint are computed again.
  var fingerprint: String { get }

  /// A stage with default options. Structs get this initializer if every stored property has a
  /// value.
  init()

  /// Creates a stage from its options. Stages without options get this initializer.
  ///
  /// - Throws: `OptionError` if the options contradict each other.
  init(options: Options) throws

  var options: Options { get }

  /// The format of the output frames, for stages that output frames.
  func outputFormat(for input: PixelFormat) -> PixelFormat

  /// The part of the input that the output frames show; `nil`, the default, means all of it, pixel
  /// by pixel. A stage that crops or scales must implement this: reports draw results from behind
  /// it over the source's frame.
  func view(of input: PictureShape) -> PictureView?
}

extension StageDefinition {
  public static var version: Int { 1 }
  public static var summary: String { "" }
  public static var inputFormats: [PixelFormat] { [] }
  public static var keepsInput: Bool { false }
  public var fingerprint: String { "" }

  public func outputFormat(for input: PixelFormat) -> PixelFormat { input }
  public func view(of input: PictureShape) -> PictureView? { nil }
}

extension StageDefinition {
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
  public var options: NoOptions { NoOptions() }

  public init() {
    requirementFailure(
      "the stage '\(Self.kind)' has no options and no init(): give each stored property a value, "
        + "and a public struct a 'public init() {}'")
  }

  public init(options: NoOptions) {
    self.init()
  }
}

/// A computation whose output depends only on its input and options. It may run on any thread, for
/// any frame, in any order, and ahead of virtual time.
public protocol PureStage: StageDefinition {
  associatedtype Input: PipelineValue
  associatedtype Output: PipelineValue
  /// The error type of the body; with `Never` (the default), a replay never has to wait for its
  /// outcome.
  associatedtype Failure: Error = Never

  func process(_ input: Input, _ context: StageContext) throws(Failure) -> Output
}

/// A computation that keeps state. It gets the frames in the order in which virtual time serves
/// them, one at a time.
public protocol StatefulStage: StageDefinition {
  associatedtype Input: PipelineValue
  associatedtype Output: PipelineValue
  /// The error type of the body; with `Never` (the default), a replay never has to wait for its
  /// outcome.
  associatedtype Failure: Error = Never

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

  public init(key: String, message: String) {
    self.key = key
    self.message = message
  }
}

/// An error that a stage's body throws on purpose.
public struct StageError: Error, Sendable, Hashable {
  public enum Severity: String, Sendable {
    /// This frame fails; the run continues.
    case recoverable
    /// The run halts.
    case unrecoverable
  }

  /// Stable and without spaces, because it appears in golden files.
  public var code: String
  public var message: String
  public var severity: Severity

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
