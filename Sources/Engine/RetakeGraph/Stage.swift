public import RetakeBuffers
package import RetakeCore

/// The common requirements of pure and stateful stages: a kind, a version and options.
public protocol StageDefinition: Sendable {
  /// The type of `options`, named by a `typealias`; a stage without options leaves it out.
  associatedtype Options: StageOptions = NoOptions

  /// The name in documents, `[a-z][A-Za-z0-9-]*`, unique in a registry.
  static var kind: String { get }
  /// Must be increased whenever the same input may produce another output.
  static var version: Int { get }
  /// One line for `retake pipeline` and error messages.
  static var summary: String { get }
  /// Pixel formats that the body accepts, best first; empty means the formats of
  /// `PixelFormat.basic`, with 8 bits a sample. If a graph provides another format, a visible
  /// `convert` is inserted. A body that reads deep samples names their formats, such as
  /// `.i420(bits: 10)`.
  static var inputFormats: [PixelFormat] { get }
  /// Whether the output continues to use the input's memory, as a view of a frame does. In that
  /// case, the input's lease of a pool ends with the output's lease.
  static var keepsInput: Bool { get }

  /// Identifies everything else that the output depends on, apart from input, version and options:
  /// for example, the digest of a model's file. Values that were cached with another fingerprint
  /// are computed again.
  var fingerprint: String { get }

  /// The sensors that the stage reads for each frame; empty by default. The list may depend on the
  /// options.
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
  /// by pixel. A stage that crops or scales must implement this: reports draw downstream results
  /// over the source's frame.
  func view(of input: ImageShape) -> ImageView?
}

extension StageDefinition {
  /// Version 1.
  public static var version: Int { 1 }
  /// An empty string.
  public static var summary: String { "" }
  /// The formats of `PixelFormat.basic`.
  public static var inputFormats: [PixelFormat] { [] }
  /// `false`: the output does not use the input's memory.
  public static var keepsInput: Bool { false }
  /// An empty string: the output depends only on input, version and options.
  public var fingerprint: String { "" }
  /// No sensors.
  public var sensors: [SensorRead] { [] }

  /// The format of the input.
  public func outputFormat(for input: PixelFormat) -> PixelFormat { input }
  /// All of the input, pixel by pixel.
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
  /// The empty options.
  public var options: NoOptions { NoOptions() }

  /// Ends the process: a stage without options must declare an `init()`.
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

extension ErrorFacts {
  /// An error that a user's code threw outside a stage's body, such as a source that cannot be
  /// opened, with its own code and message.
  package init(ofUser error: any Error) {
    let error = StageError(wrapping: error)
    self.init(error.code, error.message)
  }
}
