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
/// The stage does not receive frames that were dropped upstream.
public protocol StatefulStage: StageDefinition {
  /// The value that the stage takes: `Joined` after a join, `Region` for the first stage of a
  /// forEach.
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
