import CLz4

/// Frames of LZ4, by the system's liblz4.
enum LZ4Frame {
  // SAFETY: the library reads and writes at most the passed counts, which are the sizes of the two
  // buffers; the context is freed once.

  /// Expands up to `bytesMax` bytes.
  ///
  /// - Throws: when there is no memory.
  static func expand(
    _ part: ArraySlice<UInt8>, bytesMax: Int
  ) throws -> Expanded {
    var context: OpaquePointer?
    guard LZ4F_isError(LZ4F_createDecompressionContext(&context, UInt32(LZ4F_VERSION))) == 0 else {
      throw CompressionProblem(cause: "there is no memory for lz4")
    }
    defer { LZ4F_freeDecompressionContext(context) }
    var problem: String?
    let output = [UInt8](unsafeUninitializedCapacity: bytesMax) { output, count in
      part.withUnsafeBytes { input in
        var (read, written, hint) = (0, 0, 1)
        // Ends: each round reads or writes something, or is the last.
        while read < input.count, hint != 0 || written < bytesMax {
          var (inputCount, outputCount) = (input.count - read, bytesMax - written)
          hint = LZ4F_decompress(
            context, output.baseAddress.map { $0 + written }, &outputCount,
            input.baseAddress.map { $0 + read }, &inputCount, nil)
          if LZ4F_isError(hint) != 0 {
            problem = String(cString: LZ4F_getErrorName(hint))
            break
          }
          if inputCount == 0, outputCount == 0 { break }
          (read, written) = (read + inputCount, written + outputCount)
        }
        count = written
        if problem == nil, hint != 0 { problem = "its compressed bytes end too early or late" }
      }
    }
    return Expanded(bytes: output[...], problem: problem)
  }
}
