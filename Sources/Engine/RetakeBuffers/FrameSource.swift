/// A source node of a pipeline that brings its own frames.
public protocol FrameSource: Sendable {
  /// A reader of all of its frames. Each run opens its own.
  ///
  /// - Throws: Any error. The command reports a `StageError` or a `CodedError` with its own code.
  func open() throws -> any FrameReader
}
