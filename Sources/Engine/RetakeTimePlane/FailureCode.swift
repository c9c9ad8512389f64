/// Codes of failures that the time plane treats in a special way.
package enum FailureCode {
  /// There was no memory for a frame. The pool that the frame would have come from counts it.
  package static let allocationFailed = "allocation.failed"
}
