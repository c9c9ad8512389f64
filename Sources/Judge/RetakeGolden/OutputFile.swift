import Foundation

/// A file that is written sequentially, in large pieces, and is synchronized to the disk before it
/// is closed.
final class OutputFile {
  /// Bytes that are gathered before they are written.
  private static let batchBytes = 1 << 17

  let url: URL
  private let handle: FileHandle
  private var buffer = Data()

  init(_ url: URL) throws {
    self.url = url
    // Never through a symbolic link: git can store a link to any file of this user. O_NONBLOCK:
    // opening a named pipe without a reader then fails, where it would wait forever.
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let descriptor = open(url.path, flags, 0o666)
    guard descriptor >= 0 else {
      let number = errno
      let cause = number == ELOOP ? "it is a symbolic link" : String(cString: strerror(number))
      throw GoldenError.io(path: url.path, action: "write the file", cause: cause)
    }
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  func append(_ bytes: some Sequence<UInt8>) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.batchBytes { try flush() }
  }

  func close() throws {
    try flush()
    try io(url, "write the file") {
      // Before any rename: a name that survives a power failure must not lead to an empty file.
      try handle.synchronize()
      try handle.close()
    }
  }

  private func flush() throws {
    try io(url, "write the file") { try handle.write(contentsOf: buffer) }
    buffer.removeAll(keepingCapacity: true)
  }

  static func write(_ bytes: some Sequence<UInt8>, to url: URL) throws {
    let file = try OutputFile(url)
    try file.append(bytes)
    try file.close()
  }
}
