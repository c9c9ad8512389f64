import CZstd
import Foundation

/// Streams of Zstandard, by the system's libzstd.
enum ZstdStream {
  // SAFETY: the library reads and writes at most the passed counts, which are the sizes of the two
  // buffers; the context is freed once.

  /// The first bytes of a frame (RFC 8878, 3.1.1). They cannot begin a message in CDR.
  static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

  /// The size that the first frame says it has when expanded; nil if it does not say it.
  static func claimedBytes(_ part: ArraySlice<UInt8>) -> UInt64? {
    let size = part.withUnsafeBytes { ZSTD_getFrameContentSize($0.baseAddress, $0.count) }
    // The two highest numbers say that it is unknown, or that this is not a frame.
    return size >= UInt64.max - 1 ? nil : size
  }

  /// Expands up to `bytesMax` bytes.
  ///
  /// - Throws: when there is no memory.
  static func expand(
    _ part: ArraySlice<UInt8>, bytesMax: Int
  ) throws -> Expanded {
    let expander = try Expander()
    var problem: String?
    let output = [UInt8](unsafeUninitializedCapacity: bytesMax) { output, count in
      part.withUnsafeBytes { input in
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: bytesMax, pos: 0)
        var hint = 1
        // Ends: each round reads or writes something, or is the last.
        while source.pos < source.size || hint != 0 {
          let before = (source.pos, target.pos)
          hint = ZSTD_decompressStream(expander.context, &target, &source)
          if ZSTD_isError(hint) != 0 {
            problem = String(cString: ZSTD_getErrorName(hint))
            break
          }
          if before == (source.pos, target.pos) { break }
        }
        count = target.pos
        if problem == nil, hint != 0 { problem = "its compressed bytes end too early or late" }
      }
    }
    return Expanded(bytes: output[...], problem: problem)
  }

  /// Expands a message whose size is not known.
  static func message(
    _ part: ArraySlice<UInt8>, bytesMax: Int
  ) throws -> ArraySlice<UInt8> {
    let claimed = claimedBytes(part)
    guard claimed ?? 0 <= UInt64(bytesMax) else {
      throw CompressionProblem(
        cause: "it claims \(claimed ?? 0) bytes; at most \(bytesMax) are read")
    }
    // Without a claimed size, the buffer fits the ratio that zstd reaches with images, and grows if
    // that is not enough.
    var room = claimed.map { Int($0) } ?? min(bytesMax, max(1 << 16, 16 * part.count))
    while true {
      let result = try expand(part, bytesMax: room)
      guard let cause = result.problem else { return result.bytes }
      guard result.bytes.count == room, claimed == nil, room < bytesMax else {
        throw CompressionProblem(cause: cause)
      }
      room = min(bytesMax, 4 * room)
    }
  }

  final class Expander {
    fileprivate let context: OpaquePointer

    init() throws {
      guard let context = ZSTD_createDCtx() else {
        throw CompressionProblem(cause: "there is no memory for zstd")
      }
      self.context = context
    }

    deinit { ZSTD_freeDCtx(context) }

    /// Expands the next piece of a file, and passes the result to `body`.
    ///
    /// - Returns: 0 at the end of a frame.
    func expand(_ piece: Data, _ body: (Data) throws -> Void) throws -> Int {
      var output = [UInt8](repeating: 0, count: 1 << 18)
      var (position, hint, isFull) = (0, 1, false)
      // Ends: each round reads or writes something.
      while position < piece.count || isFull {
        var written = 0
        try output.withUnsafeMutableBytes { output in
          try piece.withUnsafeBytes { input in
            var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: position)
            var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
            hint = ZSTD_decompressStream(context, &target, &source)
            guard ZSTD_isError(hint) == 0 else {
              throw CompressionProblem(cause: String(cString: ZSTD_getErrorName(hint)))
            }
            (position, written) = (source.pos, target.pos)
          }
        }
        // A full buffer may leave more in the context, even if the input is used up.
        isFull = written == output.count
        if written > 0 { try body(Data(output.prefix(written))) }
      }
      return hint
    }
  }
}
