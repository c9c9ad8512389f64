import Foundation
import RetakeCore
package import RetakeSession

/// Makes a session of an archive that `SessionPack` wrote, and perhaps someone else altered.
///
/// Only the files of a session are written, each with the SHA-256 of the manifest, into a hidden
/// folder. The session gets its name after it was read as any session is.
package struct SessionUnpack: Sendable {
  private let archive: String
  private let target: SessionTarget
  private let verify: (@Sendable (_ manifest: String, _ signature: String) throws -> Void)?
  private let report: @Sendable (SessionCheck.Progress) -> Bool

  /// - Parameters:
  ///   - verify: Throws if the signature of the manifest's text is not trusted; nil accepts archives
  ///     without a signature, and does not check one.
  ///   - report: Called with the mebibytes of the archive so far; returning false stops the work.
  package init(
    of archive: String, to target: SessionTarget,
    verify: (@Sendable (_ manifest: String, _ signature: String) throws -> Void)? = nil,
    report: @escaping @Sendable (SessionCheck.Progress) -> Bool = { _ in true }
  ) {
    (self.archive, self.target) = (archive, target)
    (self.verify, self.report) = (verify, report)
  }

  /// - Throws: `ErrorFacts` with a code `session.archive.…`; errors of `verify`, of the disk and of
  ///   the session in the archive. No file stays.
  package func run() throws -> SessionCopyResult {
    do {
      let reader = try ArchiveReader(archive)
      let head = try reader.head()
      try verifySignature(of: head)
      let session = try SessionFolder(new: target.name, or: head.folder, in: target.into)
      let built = try BuiltSession(session) { site in
        try unpack(head, reader, into: site)
        if !RegularFile.isTaken(site.folder.notes) {
          try site.write("# \(session.name)\n", to: site.folder.notes)
        }
      }
      let isUnchecked = head.signature != nil && verify == nil
      return built.result(
        at: session.path,
        notes: isUnchecked ? ["the archive is signed; --signers FILE checks the signature"] : [])
    } catch let problem as ArchiveProblem {
      throw problem.error(in: archive)
    }
  }

  private func verifySignature(of head: ArchiveReader.Head) throws {
    guard let verify else { return }
    guard let signature = head.signature else {
      throw ErrorFacts(
        "session.archive.unsigned", "the archive has no signature", at: archive,
        advice: "Ask its author for: retake session pack SESSION --as FILE --sign KEY")
    }
    try verify(head.manifest.text, signature)
  }

  private func unpack(
    _ head: ArchiveReader.Head, _ reader: ArchiveReader, into site: SessionBuilder
  ) throws {
    for entry in head.manifest.entries {
      let header = try reader.header(of: entry, in: head.folder)
      try SessionBuilder.requireRoom(header.size, at: site.folder.path)
      try write(to: try site.folder.file(entry.path)) { output in
        try reader.content(of: header, entry) { piece in
          try output.write(contentsOf: piece)
          guard tell(reader) else { throw SessionError.interrupted }
        }
      }
    }
    try reader.end()
    let session = try SessionReader(site.folder, options: ReadOptions(framesPerChain: nil))
    try session.index.requireSizes(in: site.folder)
    let media = head.manifest.entries.map(\.path).filter { $0.contains("/") }
    guard try SessionPack.media(of: session) == Set(media) else {
      throw ArchiveProblem("its media are not the media that its index names")
    }
  }

  private func tell(_ reader: ArchiveReader) -> Bool {
    report(
      SessionCheck.Progress(
        done: Int(reader.bytesRead >> 20), total: Int(reader.bytes >> 20), unit: .megabytes))
  }

  private func write(to path: String, _ body: (FileHandle) throws -> Void) throws {
    do {
      try Data().write(to: URL(fileURLWithPath: path))
      let output = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      defer { try? output.close() }
      try body(output)
      try output.synchronize()
    } catch let error as any CodedError {
      throw error
    } catch let error as ArchiveProblem {
      throw error
    } catch {
      throw SessionError.write(path, error)
    }
  }
}
