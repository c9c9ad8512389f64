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
  /// The value that the stage takes: `Joined` after a join, `Region` for the first stage of a
  /// forEach.
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
