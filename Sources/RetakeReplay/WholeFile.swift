import Foundation

/// A file that is written front to back and appears under its name only when it is whole. A device
/// or a pipe, such as /dev/stdout, is written to as it is.
final class WholeFile {
  /// Bytes gathered before they are written together.
  private static let batchBytes = 1 << 16

  private let path: String
  private let output: ReplayError.Output
  /// `nil` where the bytes go straight to `path`.
  private let partialPath: String?
  private let handle: FileHandle
  private var buffer = Data()
  private var failure: ReplayError?

  /// - Throws: `ReplayError.unwritable`.
  init(path: String, output: ReplayError.Output) throws(ReplayError) {
    self.path = path
    self.output = output
    partialPath = try Self.partialPath(path, output)
    let opened = partialPath ?? path
    if let partialPath, !FileManager.default.createFile(atPath: partialPath, contents: nil) {
      throw .unwritable(output, path: path, cause: String(cString: strerror(errno)))
    }
    guard let handle = FileHandle(forWritingAtPath: opened) else {
      throw .unwritable(output, path: path, cause: String(cString: strerror(errno)))
    }
    self.handle = handle
  }

  private static func partialPath(
    _ path: String, _ output: ReplayError.Output
  ) throws(ReplayError) -> String? {
    let attributes = try? FileManager.default.attributesOfItem(
      atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
    switch attributes?[.type] as? FileAttributeType {
    case nil, .typeRegular?: return path.hasPrefix("/dev/") ? nil : path + ".partial"
    case .typeDirectory?: throw .unwritable(output, path: path, cause: "it is a folder")
    default: return nil
    }
  }

  /// A failure is kept for `check` and `finish`.
  func append(_ bytes: some Sequence<UInt8>) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.batchBytes { flush() }
  }

  /// - Throws: What went wrong with the bytes so far.
  func check() throws(ReplayError) {
    if let failure { throw failure }
  }

  /// Puts the file in its place.
  ///
  /// - Throws: `ReplayError.unwritable`.
  func finish() throws(ReplayError) {
    flush()
    try check()
    do {
      if partialPath != nil { try handle.synchronize() }
      try handle.close()
    } catch {
      throw .unwritable(output, path: path, cause: error.localizedDescription)
    }
    guard let partialPath else { return }
    guard rename(partialPath, path) == 0 else {
      throw .unwritable(output, path: path, cause: String(cString: strerror(errno)))
    }
  }

  /// Leaves nothing behind.
  func discard() {
    try? handle.close()
    if let partialPath { try? FileManager.default.removeItem(atPath: partialPath) }
  }

  private func flush() {
    defer { buffer.removeAll(keepingCapacity: true) }
    guard failure == nil else { return }
    do {
      try handle.write(contentsOf: buffer)
    } catch {
      failure = .unwritable(output, path: path, cause: error.localizedDescription)
    }
  }
}
