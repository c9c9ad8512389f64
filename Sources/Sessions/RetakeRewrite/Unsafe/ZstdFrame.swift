import CZstd
import Foundation

/// Why bytes cannot be compressed or expanded.
struct ZstdProblem: Error, Hashable {
  var cause: String
}

/// Compresses bytes into one frame of Zstandard (RFC 8878) with a checksum.
///
/// The level is fixed and there is one thread, so equal bytes become equal frames with one version
/// of the library.
final class ZstdCompressor {
  // SAFETY: the library reads and writes at most the passed counts, which are the sizes of the two
  // buffers; the context is freed once.
  private static let level: Int32 = 3
  private let context: OpaquePointer
  private let write: (Data) throws -> Void

  /// - Parameter write: Called with each piece of the frame.
  init(_ write: @escaping (Data) throws -> Void) throws {
    guard let context = ZSTD_createCCtx() else {
      throw ZstdProblem(cause: "there is no memory for zstd")
    }
    self.context = context
    self.write = write
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Self.level)
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
  }

  deinit { ZSTD_freeCCtx(context) }

  func append(_ bytes: Data) throws { try compress(bytes, ZSTD_e_continue) }

  func finish() throws { try compress(Data(), ZSTD_e_end) }

  private func compress(_ bytes: Data, _ end: ZSTD_EndDirective) throws {
    var output = [UInt8](repeating: 0, count: ZSTD_CStreamOutSize())
    var position = 0
    // Ends: each round reads or writes bytes until all are read, and at the end written.
    while true {
      let (left, count) = try output.withUnsafeMutableBytes { output in
        try bytes.withUnsafeBytes { input in
          var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: position)
          var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
          let left = ZSTD_compressStream2(context, &target, &source, end)
          guard ZSTD_isError(left) == 0 else {
            throw ZstdProblem(cause: String(cString: ZSTD_getErrorName(left)))
          }
          position = source.pos
          return (left, target.pos)
        }
      }
      if count > 0 { try write(Data(output.prefix(count))) }
      if position == bytes.count, end == ZSTD_e_continue || left == 0 { return }
    }
  }
}

/// Expands one frame of Zstandard, as far as its reader asks for bytes.
final class ZstdExpander {
  // SAFETY: the library reads and writes at most the passed counts, which are the sizes of the two
  // buffers; the context is freed once.
  private static let pieceBytes = 1 << 18
  private let context: OpaquePointer
  private let next: (Int) throws -> Data
  private var input = Data()
  private var position = 0
  private var isAtEnd = false

  /// - Parameter next: Reads at most this number of compressed bytes; empty at their end.
  init(_ next: @escaping (Int) throws -> Data) throws {
    guard let context = ZSTD_createDCtx() else {
      throw ZstdProblem(cause: "there is no memory for zstd")
    }
    self.context = context
    self.next = next
  }

  deinit { ZSTD_freeDCtx(context) }

  /// The next bytes; fewer than `count` at the end of the frame.
  ///
  /// - Throws: `ZstdProblem`, also if the compressed bytes end before the frame.
  func read(_ count: Int) throws -> Data {
    var output = [UInt8](repeating: 0, count: count)
    var filled = 0
    // Ends: each round writes or reads bytes, or fetches more, until the frame or the file ends.
    while filled < count, !isAtEnd {
      let before = filled
      let left = try expand(into: &output, &filled)
      isAtEnd = left == 0
      guard filled == before, position == input.count, !isAtEnd else { continue }
      (input, position) = (try next(Self.pieceBytes), 0)
      if input.isEmpty { throw ZstdProblem(cause: "it is cut short") }
    }
    return Data(output.prefix(filled))
  }

  /// Whether the frame has ended, and the compressed bytes end with it.
  func isFinished() throws -> Bool {
    guard try read(1).isEmpty, position == input.count else { return false }
    return try next(1).isEmpty
  }

  private func expand(into output: inout [UInt8], _ filled: inout Int) throws -> Int {
    try output.withUnsafeMutableBytes { output in
      try input.withUnsafeBytes { input in
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: position)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: filled)
        let left = ZSTD_decompressStream(context, &target, &source)
        guard ZSTD_isError(left) == 0 else {
          throw ZstdProblem(cause: String(cString: ZSTD_getErrorName(left)))
        }
        (position, filled) = (source.pos, target.pos)
        return left
      }
    }
  }
}
