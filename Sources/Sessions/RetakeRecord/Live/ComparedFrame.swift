import RetakeRuntime

/// A frame after both pipelines have finished it.
struct ComparedFrame: Sendable {
  /// As the source numbers its frames.
  var sequence: Int
  var arrivalNanoseconds: Int64
  /// `nil` if a pipeline has no result for the frame, or remembers other frames than the other
  /// pipeline.
  var disagreement: Double?
  /// By pipeline; `nil` for a frame that the pipeline did not capture.
  var results: [LiveResult?]
}
