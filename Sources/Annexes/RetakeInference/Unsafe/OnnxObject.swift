/// An object of the library. Exactly one value owns it, and its end releases it.
struct OnnxObject: ~Copyable {
  // SAFETY: the library made the object for its owner alone, and `release` is the function for it.
  let pointer: OpaquePointer
  private let release: OnnxFunctions.Release

  init(_ pointer: OpaquePointer, release: @escaping OnnxFunctions.Release) {
    self.pointer = pointer
    self.release = release
  }

  deinit {
    release(pointer)
  }
}
