import CFFmpeg
import RetakeBuffers

/// Incremental SHA-256, from FFmpeg's implementation.
package struct Sha256: ~Copyable {
  // SAFETY: the library makes the state, only this value owns it, and deinit frees it.
  private let state: OpaquePointer

  package init() {
    state = FFmpeg.required(av_sha_alloc())
    av_sha_init(state, 256)
  }

  deinit {
    av_free(UnsafeMutableRawPointer(state))
  }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    // SAFETY: the library reads exactly `count` bytes.
    guard let base = bytes.baseAddress else { return }
    av_sha_update(state, base.assumingMemoryBound(to: UInt8.self), bytes.count)
  }

  package mutating func append(_ bytes: some Sequence<UInt8>) {
    let done: Void? = bytes.withContiguousStorageIfAvailable { append(UnsafeRawBufferPointer($0)) }
    if done == nil { Array(bytes).withUnsafeBytes { append($0) } }
  }

  /// The digest of all appended bytes, as 64 lower-case hexadecimal digits.
  package consuming func finish() -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    av_sha_final(state, &digest)
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  package static func digest(of bytes: some Sequence<UInt8>) -> String {
    var hasher = Sha256()
    hasher.append(bytes)
    return hasher.finish()
  }

  /// The digest of a file, read in pieces.
  ///
  /// - Parameter continues: Called after each mebibyte with the bytes so far; false stops.
  /// - Returns: nil when it was stopped.
  /// - Throws: `MediaError` when the file cannot be opened or read.
  package static func digest(
    ofFile path: String, continues: (Int64) -> Bool
  ) throws -> String? {
    let file: MediaFile
    do {
      file = try MediaFile(path: path)
    } catch MediaError.empty {
      return Sha256().finish()
    }
    var hasher = Sha256()
    var offset: Int64 = 0
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
    defer { buffer.deallocate() }
    while true {
      let count = try file.readUpToEnd(into: buffer, at: offset)
      guard count > 0 else { return hasher.finish() }
      hasher.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
      guard continues(offset) else { return nil }
    }
  }
}

extension Frame {
  /// SHA-256 of the visible bytes, plane by plane without padding. It equals the output of FFmpeg's
  /// `framehash` muxer for the decoded frame.
  package var frameHash: String {
    var hasher = Sha256()
    for plane in 0..<format.planeCount { forEachRow(of: plane) { hasher.append($0) } }
    return hasher.finish()
  }
}
