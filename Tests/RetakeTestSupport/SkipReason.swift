import Testing

/// Why a test is skipped, in the same words wherever the reason is the same: skipped tests are
/// counted by reason.
package enum SkipReason {
  package static let noOnnxRuntime: Comment = "ONNX Runtime is not here: pip install onnxruntime"
  package static let noPython: Comment = "python3 is not installed"
}
