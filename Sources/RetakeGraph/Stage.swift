import RetakeBuffers
import RetakeCore

/// What a stage may know beside its input.
public struct StageContext: Sendable {
  /// The frame that is being worked on.
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
/// set any of them; an unknown key or a wrong type is refused when the document is read.
///
/// Optional properties are not seen as options: give every property a value.
public protocol StageOptions: Codable, Sendable {
  /// All defaults.
  init()
}

/// For stages that have none.
public struct NoOptions: StageOptions {
  public init() {}
}

/// What pure and stateful stages have in common: a kind, a version and options.
public protocol StageDefinition: Sendable {
  associatedtype Options: StageOptions = NoOptions

  /// The word in documents, `[a-z][A-Za-z0-9-]*`, unique in a registry.
  static var kind: String { get }
  /// Counted up whenever the same input may give another output.
  static var version: Int { get }
  /// One line for `retake pipeline` and error messages.
  static var summary: String { get }
  /// Pixel formats that the body takes, best first; empty means any. Where a graph offers another,
  /// a visible `convert` is put in between.
  static var inputFormats: [PixelFormat] { get }
  /// Whether the output goes on using the input's memory, as a view of a frame does: the input's
  /// lease of a pool then ends with the output's.
  static var keepsInput: Bool { get }

  /// What the output depends on beside input, version and options, such as the digest of a model's
  /// file: values that were kept with another one are computed anew.
  var fingerprint: String { get }

  /// A stage with default options. Structs have it where every stored property has a value.
  init()

  /// Stages without options have it.
  ///
  /// - Throws: `OptionError` when the options make no sense together.
  init(options: Options) throws

  var options: Options { get }

  /// The format of the frames that come out, for stages that give frames.
  func outputFormat(for input: PixelFormat) -> PixelFormat

  /// What the frames that come out show of those that go in; `nil`, the default, is all of it, pixel
  /// by pixel. A stage that cuts or scales says it: reports draw what is found behind it over the
  /// source's frame.
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

/// A computation whose output depends on its input and options alone. It may run on any thread,
/// for any frame, in any order, and ahead of virtual time.
public protocol PureStage: StageDefinition {
  associatedtype Input: PipelineValue
  associatedtype Output: PipelineValue
  /// What the body can throw; `Never` (the default) means that replay need never wait for it.
  associatedtype Failure: Error = Never

  func process(_ input: Input, _ context: StageContext) throws(Failure) -> Output
}

/// A computation that remembers. It sees the frames in the order in which virtual time serves
/// them, one at a time.
public protocol StatefulStage: StageDefinition {
  associatedtype Input: PipelineValue
  associatedtype Output: PipelineValue
  /// What the body can throw; `Never` (the default) means that replay need never wait for it.
  associatedtype Failure: Error = Never

  mutating func process(_ input: Input, _ context: StageContext) throws(Failure) -> Output
  /// Forgets everything, as if just made.
  mutating func reset()
}

/// A stage's options contradict each other or are out of range.
public struct OptionError: Error, Sendable {
  /// The option's key.
  public var key: String
  /// What is wrong, such as "must be at least 1".
  public var message: String

  public init(key: String, message: String) {
    self.key = key
    self.message = message
  }
}

/// An error that a stage's body throws on purpose.
public struct StageError: Error, Sendable, Hashable {
  public enum Severity: String, Sendable {
    /// This frame fails; the run goes on.
    case recoverable
    /// The run halts.
    case unrecoverable
  }

  /// Stable and without spaces: it appears in golden files.
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

  /// Any error of a body as a stage error: other types count as recoverable, named by their type.
  package init(wrapping error: any Error) {
    if let error = error as? StageError {
      self = error
    } else {
      let name = String(describing: type(of: error)).filter { $0.isASCII && !$0.isWhitespace }
      self.init(code: "error.\(name)", message: String(describing: error))
    }
  }
}
