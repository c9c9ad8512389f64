import CFFmpeg
import RetakeCore

/// A regular file that any thread can read at any position.
package final class MediaFile: Sendable {
  package let path: String
  /// Size in bytes when it was opened.
  package let size: Int64
  // SAFETY: this object opens and closes the descriptor, and reading at an offset has no position.
  private let descriptor: Int32

  /// - Throws: `MediaError` when it is missing, a folder, special, empty or unreadable.
  package init(path: String) throws {
    do {
      // `import --link` makes symbolic links if the disk does not support hard links.
      let (descriptor, facts) = try RegularFile.descriptor(path, links: .followed)
      self.path = path
      self.size = facts.bytes
      self.descriptor = descriptor
    } catch let error as RegularFile.Refusal {
      switch error {
      case .folder:
        let folder = MediaFolder(path)
        throw MediaError.directory(file: path, kind: folder?.kind, remedy: folder?.remedy)
      case .special, .link, .tooLarge: throw MediaError.special(file: path)
      case .missing: throw MediaError.missing(file: path)
      case .system(let number):
        throw MediaError.unreadable(file: path, cause: FFmpeg.text(retake_error_from_errno(number)))
      }
    }
    guard size > 0 else { throw MediaError.empty(file: path) }
    try refusePointer()
  }

  deinit {
    _ = retake_close(descriptor)
  }

  /// A pointer of Git LFS has about 130 bytes, and may replace the media of a session, too.
  private func refusePointer() throws {
    guard size < 1_024 else { return }
    let head = try bytes(ForeignFile.headBytes)
    guard head.starts(with: Array("version https://git-lfs".utf8)),
      let foreign = ForeignFile(head: head, path: path)
    else { return }
    throw MediaError.foreign(file: path, kind: foreign.kind, remedy: foreign.remedy)
  }

  /// Fills the buffer with the bytes at `offset`.
  ///
  /// - Throws: `MediaError.read` when the file has fewer bytes there.
  package func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws {
    let count = try readUpToEnd(into: buffer, at: offset)
    guard count == buffer.count else {
      throw MediaError.read(file: path, cause: "\(count) of \(buffer.count) bytes at \(offset)")
    }
  }

  /// Reads into the buffer at `offset` up to the end of the file, and returns the number of bytes.
  func readUpToEnd(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws -> Int {
    // SAFETY: the system writes at most `count` bytes into the buffer.
    let count = retake_read_at(descriptor, buffer.baseAddress, Int64(buffer.count), offset)
    guard count >= 0 else {
      throw MediaError.read(file: path, cause: FFmpeg.text(Int32(truncatingIfNeeded: count)))
    }
    return Int(count)
  }

  /// The bytes at `offset`, at most `count`, and at most to the end of the file.
  ///
  /// - Throws: `MediaError.read`.
  package func bytes(_ count: Int, at offset: Int64 = 0) throws -> [UInt8] {
    let available = max(0, min(Int64(count), size - offset))
    var bytes = [UInt8](repeating: 0, count: Int(available))
    try bytes.withUnsafeMutableBytes { try read(into: $0, at: offset) }
    return bytes
  }

  /// A packet with the bytes at `offset`, read without a demuxer.
  ///
  /// - Throws: `MediaError.read` when the file has fewer bytes there.
  package func packet(
    stream: Int = 0, index: Int, pts: Int64?, dts: Int64?, duration: Int64 = 0,
    flags: MediaPacket.Flags, offset: Int64, size: Int, sideData: [UInt8]? = nil
  ) throws -> MediaPacket {
    // Checked before allocating, because a damaged index may request any size.
    guard offset >= 0, size >= 0, offset <= self.size, Int64(size) <= self.size - offset else {
      let present = offset < 0 ? 0 : max(0, self.size - offset)
      throw MediaError.read(file: path, cause: "\(present) of \(size) bytes at \(offset)")
    }
    return try MediaPacket(
      stream: stream, index: index, pts: pts, dts: dts, duration: duration, flags: flags,
      offset: offset, size: size, sideData: sideData
    ) { try read(into: $0, at: offset) }
  }
}
