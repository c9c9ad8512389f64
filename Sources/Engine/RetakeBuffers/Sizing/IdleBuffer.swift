/// A buffer with its type erased.
class IdleBuffer: @unchecked Sendable {
  // SAFETY: @unchecked because the class is open to its subclasses; no subclass has a variable.

  /// The memory that goes with the buffer; 0 if the pool does not know it.
  var byteCount: Int { 0 }
}
