import Foundation
import RetakeCore
import RetakeMedia
package import RetakeSession

/// Writes a closed session into one file, a tar archive in a frame of Zstandard.
///
/// The same session makes the same bytes, with one version of libzstd. The file gets its name when
/// it is complete.
package struct SessionPack: Sendable {
  package struct Result: Hashable, Sendable, Codable {
    package var file: String
    package var bytes: Int64
    /// Number of the session's files.
    package var files: Int
    /// SHA-256 of the manifest, which lists the SHA-256 of each file.
    package var manifest: String
    package var isSigned: Bool
  }

  private struct Source {
    var entry: ArchiveManifest.Entry
    /// Absolute.
    var path: String
    var size: Int64
  }

  private let folder: SessionFolder
  private let file: String
  private let sign: (@Sendable (String) throws -> String)?
  private let report: @Sendable (SessionCheck.Progress) -> Bool

  /// - Parameters:
  ///   - sign: Returns the signature of the manifest's text.
  ///   - report: Called with the mebibytes so far; returning false stops the work, which then
  ///     leaves no file.
  package init(
    of path: String, as file: String, sign: (@Sendable (String) throws -> String)? = nil,
    report: @escaping @Sendable (SessionCheck.Progress) -> Bool = { _ in true }
  ) {
    folder = SessionFolder(path: path)
    (self.file, self.sign, self.report) = (file, sign, report)
  }

  /// - Throws: `SessionError`: a session that is not closed or damaged, a file that exists; or an
  ///   error of `sign`.
  package func run() throws -> Result {
    try SessionFolder.requireOutside(file, isParent: false)
    do {
      let sources = try sources()
      let manifest = try ArchiveManifest(
        SessionFolder.sanitized(name: folder.name), sources.map(\.entry))
      let signature = try sign?(manifest.text)
      let output = try NewFile(file)
      do {
        let bytes = try write(sources, manifest, signature, to: output)
        try output.finish()
        return Result(
          file: file, bytes: bytes, files: sources.count,
          manifest: Sha256.digest(of: manifest.text.utf8), isSigned: signature != nil)
      } catch {
        output.discard()
        throw FullDisk.error(error, writing: file)
      }
    } catch let problem as ArchiveProblem {
      throw Self.unpackable(problem, folder)
    } catch let problem as ZstdProblem {
      throw Self.unpackable(ArchiveProblem(problem.cause), folder)
    }
  }

  private static func unpackable(_ problem: ArchiveProblem, _ folder: SessionFolder) -> ErrorFacts {
    ErrorFacts(
      "session.archive.notPacked", "this session cannot be packed", cause: problem.cause,
      at: folder.path,
      advice: "Pack it with tar: tar --zstd -cf FILE \(folder.name.shellWord)")
  }

  /// The session's files in the order of the archive, with their digests.
  private func sources() throws -> [Source] {
    let reader = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
    let store = reader.index.store
    guard store.isClosed, !store.hasJournal else { throw SessionError.notClosed(folder) }
    // The same checks as when it is unpacked.
    try SessionClosing.check(store, at: folder.database)
    try reader.index.requireSizes()
    var names = try Self.media(of: reader) + [ArchiveManifest.database]
    if try hasNotes() { names.append(ArchiveManifest.notes) }
    let files = try names.sorted().map { name in
      let path = try folder.file(name)
      guard let size = SessionBuilder.byteCount(path) else {
        throw SessionError.mediaMissing(file: path)
      }
      return Source(entry: .init(path: name, sha256: ""), path: path, size: size)
    }
    return try digested(files)
  }

  /// - Throws: `ArchiveProblem` for a link or a folder of that name, which would be missing.
  private func hasNotes() throws -> Bool {
    do {
      _ = try RegularFile.facts(of: folder.notes)
      return true
    } catch RegularFile.Refusal.missing {
      return false
    } catch {
      throw ArchiveProblem("its \(ArchiveManifest.notes) is not packed: \(error)")
    }
  }

  /// The files in `media` that the index names.
  static func media(of reader: SessionReader) throws -> Set<String> {
    Set(reader.mediaFiles() + (try reader.index.store.files()).map(\.path))
  }

  private func digested(_ files: [Source]) throws -> [Source] {
    let size = files.reduce(0) { $0 + $1.size }
    var done: Int64 = 0
    return try files.map { file in
      let before = done
      done += file.size
      let digest = try Sha256.digest(ofFile: file.path) { tell(before + $0, of: size) }
      guard let digest else { throw SessionError.interrupted }
      var file = file
      file.entry.sha256 = digest
      return file
    }
  }

  /// - Parameters:
  ///   - done: Bytes of two walks through all files: first for the digests.
  ///   - size: Bytes of all files.
  private func tell(_ done: Int64, of size: Int64) -> Bool {
    report(
      SessionCheck.Progress(done: Int(done >> 20), total: Int((2 * size) >> 20), unit: .megabytes))
  }

  /// - Returns: The size of the archive.
  private func write(
    _ sources: [Source], _ manifest: ArchiveManifest, _ signature: String?, to output: NewFile
  ) throws -> Int64 {
    var (written, total) = (Int64(0), Int64(0))
    let compressor = try ZstdCompressor { [file] piece in
      do {
        try output.handle.write(contentsOf: piece)
      } catch {
        throw SessionError.write(file, error)
      }
      written += Int64(piece.count)
    }
    func begin(_ path: String, _ size: Int64) throws {
      try compressor.append(Data(TarHeader(folder: manifest.name, path: path, size: size).block))
      total += Int64(TarHeader.blockBytes) + size
    }
    func end(_ size: Int64) throws {
      try compressor.append(Data(count: TarHeader.padding(after: size)))
    }
    let texts =
      [(ArchiveManifest.path, manifest.text)]
      + (signature.map { [(ArchiveManifest.signaturePath, $0)] } ?? [])
    for (path, text) in texts {
      try begin(path, Int64(text.utf8.count))
      try compressor.append(Data(text.utf8))
      try end(Int64(text.utf8.count))
    }
    let size = sources.reduce(0) { $0 + $1.size }
    var done = size
    for source in sources {
      try begin(source.entry.path, source.size)
      try copy(source) { piece in
        try compressor.append(piece)
        done += Int64(piece.count)
        guard tell(done, of: size) else { throw SessionError.interrupted }
      }
      try end(source.size)
    }
    // The end of an archive is two blocks of zeros.
    try compressor.append(Data(count: ArchiveReader.endBytes))
    try compressor.finish()
    try ArchiveReader.requireRatio(total, of: written)
    return written
  }

  /// Passes each piece of a file to `take`.
  ///
  /// - Throws: `ArchiveProblem` if the file is not the file of the manifest any more.
  private func copy(_ source: Source, _ take: (Data) throws -> Void) throws {
    let input: FileHandle
    do {
      input = try RegularFile.handle(source.path, links: .followed)
    } catch let refusal as RegularFile.Refusal {
      throw refusal.error(ofMedia: source.path)
    }
    defer { try? input.close() }
    var hasher = Sha256()
    var left = source.size
    while left > 0 {
      let piece: Data
      do {
        piece = try input.read(upToCount: Int(min(left, ArchiveReader.pieceBytes))) ?? Data()
      } catch {
        throw MediaError.unreadable(file: source.path, cause: error.systemText)
      }
      if piece.isEmpty { break }
      left -= Int64(piece.count)
      hasher.append(piece)
      try take(piece)
    }
    guard left == 0, hasher.finish() == source.entry.sha256 else {
      throw ArchiveProblem("'\(source.entry.path)' was changed meanwhile")
    }
  }
}
