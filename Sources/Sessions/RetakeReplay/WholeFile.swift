package import Foundation
import RetakeCore
import RetakeSession

/// A file that is written front to back and appears under its name only when it is complete. A
/// device or a pipe, such as /dev/stdout, is written to directly.
package final class WholeFile {
  /// Bytes that are collected before they are written together.
  private static let batchBytes = 1 << 16

  private let path: String
  private let output: ReplayError.Output
  /// nil if the bytes are written directly to `path`.
  private let pending: PendingFile?
  private let handle: FileHandle
  private let isStream: Bool
  private let endsWithReader: Bool
  private var buffer = Data()
  private var failure: ReplayError?
  /// The reader, such as `head`, has left: the rest is not needed.
  private var isReaderGone = false

  /// - Throws: `ReplayError.unwritable`.
  package init(path: String, output: ReplayError.Output) throws {
    self.path = path
    self.output = output
    (isStream, endsWithReader) = (false, false)
    if try Self.isPlain(path, output) {
      guard let file = PendingFile(for: path, ending: "") else {
        throw ReplayError.unwritable(output, path: path, cause: POSIXError.last.systemText)
      }
      (pending, handle) = (file, file.handle)
      return
    }
    pending = nil
    guard let handle = FileHandle(forWritingAtPath: path) else {
      throw ReplayError.unwritable(output, path: path, cause: POSIXError.last.systemText)
    }
    self.handle = handle
  }

  /// Writes to an open stream, which stays open.
  ///
  /// - Parameters:
  ///   - name: The name of the stream in messages.
  ///   - endsWithReader: Whether the run ends when the output is no longer read.
  package init(
    stream: FileHandle, name: String, output: ReplayError.Output, endsWithReader: Bool
  ) {
    path = name
    self.output = output
    self.endsWithReader = endsWithReader
    isStream = true
    pending = nil
    handle = stream
  }

  /// The file type at a path, after following links; `nil` if the path does not exist.
  package static func type(of path: String) -> FileAttributeType? {
    let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let attributes = try? FileManager.default.attributesOfItem(atPath: target)
    return attributes?[.type] as? FileAttributeType
  }

  /// Whether the path names a file, existing or not, rather than a device or a pipe.
  private static func isPlain(
    _ path: String, _ output: ReplayError.Output
  ) throws -> Bool {
    switch type(of: path) {
    // /dev/stdout is a regular file if the output is redirected to one. A rename would replace the
    // link in /dev and not write that file.
    case nil, .typeRegular?: return !path.hasPrefix("/dev/")
    case .typeDirectory?: throw ReplayError.unwritable(output, path: path, cause: "it is a folder")
    default: return false
    }
  }

  /// For a caller that writes at positions of its own choice. Such a caller must not call `append`.
  package var descriptor: Int32 { handle.fileDescriptor }

  /// A failure is kept for `check` and `finish`.
  package func append(_ bytes: some Sequence<UInt8>) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.batchBytes { flush() }
  }

  /// Writes the collected bytes, for a reader that follows the output.
  package func flush() {
    defer { buffer.removeAll(keepingCapacity: true) }
    guard failure == nil, !isReaderGone, !buffer.isEmpty else { return }
    do {
      try handle.write(contentsOf: buffer)
    } catch {
      if error.systemNumber == EPIPE {
        isReaderGone = true
      } else {
        failure = .unwritable(output, path: path, cause: error.systemText)
      }
    }
  }

  /// The error that ended the output; `nil` while bytes are accepted.
  package var loss: ReplayError? { failure ?? (isReaderGone ? .readerGone(output) : nil) }

  /// - Throws: The error of the bytes so far; `ReplayError.readerGone` if the run should end in
  ///   that case.
  package func check() throws {
    if let failure { throw failure }
    if isReaderGone && endsWithReader { throw ReplayError.readerGone(output) }
  }

  /// Writes the remaining bytes and renames the file to its final name.
  ///
  /// - Throws: `ReplayError.unwritable`, `ReplayError.readerGone`.
  package func finish() throws {
    flush()
    try check()
    // Others may write to the stream after this, so it stays open.
    guard !isStream else { return }
    do {
      if let pending {
        try pending.finish(replacing: true)
      } else {
        try handle.close()
      }
    } catch {
      throw ReplayError.unwritable(output, path: path, cause: error.systemText)
    }
  }

  /// Writes a file of one text.
  ///
  /// - Throws: As the method for bytes.
  package static func write(
    _ text: String, to path: String, output: ReplayError.Output
  ) throws {
    try write(bytes: text.utf8, to: path, output: output)
  }

  /// Writes a file of these bytes. If that fails, no file remains.
  ///
  /// - Throws: As `init(path:output:)` and `finish()`.
  package static func write(
    bytes: some Sequence<UInt8>, to path: String, output: ReplayError.Output
  ) throws {
    let file = try WholeFile(path: path, output: output)
    file.append(bytes)
    do {
      try file.finish()
    } catch let error as ReplayError {
      // The unfinished file next to the named one must not stay.
      file.discard()
      throw error
    }
  }

  /// Removes the unfinished file.
  package func discard() {
    guard !isStream else { return }
    if let pending { pending.discard() } else { try? handle.close() }
  }
}
