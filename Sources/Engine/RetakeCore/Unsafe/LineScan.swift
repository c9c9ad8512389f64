#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Finds the lines of a buffer.
enum LineScan {
  /// Calls `body` with the range of each line, without its line end. Bytes after the last line end
  /// are not a line. Returns the position after the last line end.
  @inline(__always)
  static func forEachLine<Failure: Error>(
    in bytes: UnsafeBufferPointer<UInt8>, range: Range<Int>,
    _ body: (Range<Int>) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    guard let base = bytes.baseAddress else { return range.lowerBound }
    var start = range.lowerBound
    // SAFETY: memchr reads at most up to the range's end, which is inside the buffer.
    while start < range.upperBound,
      let found = memchr(base + start, 0x0a, range.upperBound - start)
    {
      let end = UnsafeRawPointer(found) - UnsafeRawPointer(base)
      try body(start..<end)
      start = end + 1
    }
    return start
  }
}
