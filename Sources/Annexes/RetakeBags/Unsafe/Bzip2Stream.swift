import CBzip2

/// Streams of bzip2, by the system's libbz2.
enum Bzip2Stream {
  // SAFETY: the library reads and writes at most the passed counts, which are the sizes of the two
  // buffers, and does not write into its input; its memory is freed once.

  /// Expands up to `bytesMax` bytes.
  ///
  /// - Throws: when there is no memory.
  static func expand(_ part: ArraySlice<UInt8>, bytesMax: Int) throws -> Expanded {
    var stream = bz_stream()
    guard BZ2_bzDecompressInit(&stream, 0, 0) == BZ_OK else {
      throw CompressionProblem(cause: "there is no memory for bzip2")
    }
    defer { BZ2_bzDecompressEnd(&stream) }
    var result = BZ_OK
    let output = [UInt8](unsafeUninitializedCapacity: bytesMax) { output, count in
      part.withUnsafeBytes { input in
        stream.next_in = UnsafeMutablePointer(
          mutating: input.baseAddress?.assumingMemoryBound(to: CChar.self))
        stream.avail_in = UInt32(clamping: input.count)
        stream.next_out = output.baseAddress.map {
          UnsafeMutableRawPointer($0).assumingMemoryBound(to: CChar.self)
        }
        stream.avail_out = UInt32(clamping: bytesMax)
        // Ends: each round reads or writes something, or is the last.
        while result == BZ_OK {
          let before = (stream.avail_in, stream.avail_out)
          result = BZ2_bzDecompress(&stream)
          if before == (stream.avail_in, stream.avail_out) { break }
        }
        count = bytesMax - Int(stream.avail_out)
      }
    }
    let problem =
      switch result {
      case BZ_STREAM_END: nil as String?
      case BZ_OK: "its compressed bytes end too early or late"
      case BZ_DATA_ERROR, BZ_DATA_ERROR_MAGIC: "its compressed bytes are damaged"
      default: "bzip2 ends with \(result)"
      }
    return Expanded(bytes: output[...], problem: problem)
  }
}
