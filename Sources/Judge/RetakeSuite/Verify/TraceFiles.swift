import Foundation
import RetakeCore

/// The files of one run's trace: a few digests per frame and the line of each decision. They are on
/// disk, so that a long session needs no memory. Only the processes of one verification read them,
/// so they have no version.
struct TraceFiles {
  let folder: URL

  /// A record of fixed length for each frame, with the digest of all frames up to it.
  var frames: URL { folder.appending(path: "frames") }
  /// The decision lines.
  var decisions: URL { folder.appending(path: "decisions") }
  /// A record for every `linesPerBlock` decision lines: the digest of all lines up to the end of
  /// the block, and the position of that end.
  var blocks: URL { folder.appending(path: "blocks") }
  var facts: URL { folder.appending(path: "facts") }

  static let linesPerBlock = 64
  static let digestBytes = 16
  static let numberBytes = 8
  static let blockBytes = digestBytes + numberBytes
}

/// A file of a trace that grows at its end.
final class StoredTraceFile {
  /// Bytes that are gathered before they are written.
  private static let batchBytes = 1 << 16
  /// The longest trace file: the decisions of about a hundred hours.
  static let bytesMax = 4 << 30

  private let url: URL
  private let handle: FileHandle
  private let bytesMax: Int
  private var batch = Data()
  private(set) var count = 0
  private var failure: SuiteError?

  init(_ url: URL, bytesMax: Int = StoredTraceFile.bytesMax) throws {
    guard FileManager.default.createFile(atPath: url.path, contents: nil),
      let handle = FileHandle(forWritingAtPath: url.path)
    else {
      throw Self.unwritable(url, cause: POSIXError.last.systemText)
    }
    self.url = url
    self.handle = handle
    self.bytesMax = bytesMax
  }

  /// A write error is reported by the next `check` or `finish`.
  func append(_ bytes: some Collection<UInt8>) {
    guard failure == nil else { return }
    batch.append(contentsOf: bytes)
    count += bytes.count
    if count > bytesMax {
      failure = Self.unwritable(url, cause: "the run's trace is longer than \(bytesMax) bytes")
    }
    if batch.count >= Self.batchBytes { flush() }
  }

  func check() throws {
    if let failure { throw failure }
  }

  func finish() throws {
    flush()
    try check()
    // The bytes are written, and a temporary trace need not survive a power failure.
    try? handle.close()
  }

  private func flush() {
    // Also after a failure, so that the memory of a run that continues does not grow.
    defer { batch.removeAll(keepingCapacity: true) }
    guard failure == nil else { return }
    do {
      try handle.write(contentsOf: batch)
    } catch {
      failure = Self.unwritable(url, cause: error.systemText)
    }
  }

  private static func unwritable(_ url: URL, cause: String) -> SuiteError {
    SuiteError(
      "suite.verify.traceUnwritable", "the trace of a run cannot be written", cause: cause,
      at: url.path, advice: "Choose a folder with more free space: export TMPDIR=DIR")
  }
}
