/// How the records of a chunk are compressed.
enum Compression: Sendable {
  case none, bzip2, lz4, zstd

  /// By the name that a chunk has.
  init(_ name: String) throws {
    switch name {
    case "", "none": self = .none
    case "bz2": self = .bzip2
    case "lz4": self = .lz4
    case "zstd": self = .zstd
    default: throw CompressionProblem(cause: "the compression '\(name)' is not bz2, lz4 or zstd")
    }
  }

  /// All records; exactly `bytes` bytes.
  func records(
    _ part: ArraySlice<UInt8>, bytes: Int
  ) throws -> ArraySlice<UInt8> {
    let result = try expanded(part, bytes: bytes)
    if let cause = result.problem { throw CompressionProblem(cause: cause) }
    guard result.bytes.count == bytes else {
      throw CompressionProblem(cause: "it has \(result.bytes.count) bytes, not \(bytes)")
    }
    return result.bytes
  }

  /// The beginning of a chunk, up to the first damage.
  func beginning(_ part: ArraySlice<UInt8>, bytes: Int) -> ArraySlice<UInt8> {
    (try? expanded(part, bytes: bytes))?.bytes ?? []
  }

  private func expanded(
    _ part: ArraySlice<UInt8>, bytes: Int
  ) throws -> Expanded {
    switch self {
    case .none: Expanded(bytes: part)
    case .bzip2: try Bzip2Stream.expand(part, bytesMax: bytes)
    case .lz4: try LZ4Frame.expand(part, bytesMax: bytes)
    case .zstd: try ZstdStream.expand(part, bytesMax: bytes)
    }
  }
}

/// The bytes that came out, and why there are no more.
struct Expanded {
  var bytes: ArraySlice<UInt8>
  var problem: String?
}
