import Foundation
import RetakeCore
import RetakeMedia
import RetakeSession

/// Reads the entries of an archive in their order, and accepts no other bytes.
final class ArchiveReader {
  /// The files before the session's own.
  struct Head {
    /// The session's name when it was packed.
    var folder: String
    var manifest: ArchiveManifest
    var signature: String?
  }

  /// Two blocks of zeros.
  static let endBytes = 2 * TarHeader.blockBytes
  static let pieceBytes: Int64 = 1 << 20
  private static let signatureBytesMax: Int64 = 1 << 16
  /// An archive may expand to this number of bytes, or to `ratioMax` times its own if that is more.
  private static let expandedBytesMax: Int64 = 1 << 30
  private static let ratioMax: Int64 = 100

  /// The size of the archive.
  let bytes: Int64
  private let input: FileHandle
  private let expander: ZstdExpander
  /// Bytes of all entries so far.
  private var total: Int64 = 0
  /// A header that was read too early.
  private var next: TarHeader?

  init(_ path: String) throws {
    do {
      let (descriptor, facts) = try RegularFile.descriptor(path, links: .followed)
      let input = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      (self.input, bytes) = (input, facts.bytes)
      expander = try ZstdExpander { count in
        do {
          return try input.read(upToCount: count) ?? Data()
        } catch {
          // The archive itself may be intact.
          throw ErrorFacts(
            "session.archive.unreadable", "the archive cannot be read; nothing was unpacked",
            cause: error.systemText, at: path,
            advice: "Check its disk, or copy it again from its source")
        }
      }
    } catch let refusal as RegularFile.Refusal {
      throw ErrorFacts(
        "session.archive.open", "the archive cannot be opened", cause: "\(refusal)", at: path,
        advice: "Check the path and its permissions")
    }
  }

  /// Compressed bytes that were read.
  var bytesRead: Int64 { Int64((try? input.offset()) ?? 0) }

  /// - Throws: `ArchiveProblem`.
  static func requireRatio(_ total: Int64, of bytes: Int64) throws {
    // No overflow: the total of a file that fits on a disk.
    guard total <= max(expandedBytesMax, bytes.multipliedReportingOverflow(by: ratioMax).0) else {
      throw ArchiveProblem(
        "its files have \(ByteText.of(total)) or more, over \(ratioMax) times the archive's bytes",
        .tooLarge)
    }
  }

  func head() throws -> Head {
    let first: TarHeader
    do {
      first = try header()
    } catch {
      throw (error as? ArchiveProblem).map { ArchiveProblem($0.cause, .form) } ?? error
    }
    guard first.path == ArchiveManifest.path, first.folder.isSafeName else {
      throw ArchiveProblem("its first file is not \(ArchiveManifest.path)", .form)
    }
    let text = try self.text(of: first, bytesMax: ArchiveManifest.bytesMax)
    let manifest = try ArchiveManifest(text: text)
    guard manifest.name == first.folder else {
      throw ArchiveProblem(
        "its folder is '\(first.folder)', and its manifest names the session '\(manifest.name)'")
    }
    let second = try header()
    var signature: String?
    if second.folder == first.folder, second.path == ArchiveManifest.signaturePath {
      signature = try self.text(of: second, bytesMax: Self.signatureBytesMax)
    } else {
      next = second
    }
    return Head(folder: first.folder, manifest: manifest, signature: signature)
  }

  /// The header of the next file, which must be this file of the manifest.
  func header(of entry: ArchiveManifest.Entry, in folder: String) throws -> TarHeader {
    let header = try next ?? header()
    next = nil
    guard header.folder == folder, header.path == entry.path else {
      throw ArchiveProblem(
        "'\(header.folder)/\(header.path)' is in the place of '\(folder)/\(entry.path)'")
    }
    return header
  }

  private func header() throws -> TarHeader {
    let block = try read(TarHeader.blockBytes)
    guard let header = TarHeader(Array(block)) else {
      throw ArchiveProblem("an entry is not a regular file as 'session pack' writes it")
    }
    // Before any byte of it is expanded.
    let (sum, overflow) = total.addingReportingOverflow(header.size)
    guard !overflow else { throw ArchiveProblem("a file has \(header.size) bytes", .tooLarge) }
    total = sum
    try Self.requireRatio(total, of: bytes)
    return header
  }

  /// Passes each piece of a file to `take`, then checks the file's digest.
  func content(
    of header: TarHeader, _ entry: ArchiveManifest.Entry, _ take: (Data) throws -> Void
  ) throws {
    var hasher = Sha256()
    var left = header.size
    while left > 0 {
      let piece = try read(Int(min(left, Self.pieceBytes)))
      left -= Int64(piece.count)
      hasher.append(piece)
      try take(piece)
    }
    try padding(after: header.size)
    guard hasher.finish() == entry.sha256 else {
      throw ArchiveProblem("'\(entry.path)' has another SHA-256 than the manifest")
    }
  }

  /// Checks that the archive ends here.
  func end() throws {
    let isEnd = try read(Self.endBytes).allSatisfy { $0 == 0 }
    guard try isEnd && attempt({ try expander.isFinished() }) else {
      throw ArchiveProblem("it continues after its last file")
    }
  }

  private func text(of header: TarHeader, bytesMax: Int64) throws -> String {
    guard header.size <= bytesMax else {
      throw ArchiveProblem("'\(header.path)' has more than \(bytesMax) bytes", .tooLarge)
    }
    let bytes = try read(Int(header.size))
    try padding(after: header.size)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw ArchiveProblem("'\(header.path)' is not text")
    }
    return text
  }

  private func padding(after size: Int64) throws {
    guard try read(TarHeader.padding(after: size)).allSatisfy({ $0 == 0 }) else {
      throw ArchiveProblem("there are bytes between two files")
    }
  }

  /// Exactly this number of bytes.
  private func read(_ count: Int) throws -> Data {
    let bytes = try attempt { try expander.read(count) }
    guard bytes.count == count else { throw ArchiveProblem("it is cut short") }
    return bytes
  }

  /// - Throws: `ArchiveProblem`; `session.archive.unreadable` after an error of the disk.
  private func attempt<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let problem as ZstdProblem {
      throw ArchiveProblem(problem.cause)
    }
  }
}
