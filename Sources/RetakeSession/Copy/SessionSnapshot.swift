import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore

/// Where a new session that is made of another one goes.
public struct SessionTarget: Hashable, Sendable {
  /// The folder that the new session's folder is made in.
  public var into: String
  /// The new session's name; nil is the old one's.
  public var name: String?

  public init(into: String, name: String? = nil) {
    self.into = into
    self.name = name
  }

  /// - Throws: `SessionError.badName` or `.nameTaken`.
  func folder(for session: SessionFolder) throws(SessionError) -> SessionFolder {
    let name: String
    if let wanted = self.name {
      name = try SessionFolder.checked(name: wanted)
    } else {
      name = try SessionFolder.sanitised(name: session.name)
    }
    let target = SessionFolder(path: into + "/" + name)
    guard !FileManager.default.fileExists(atPath: target.path) else {
      throw .nameTaken(path: target.path)
    }
    return target
  }
}

/// What came of making a session of another one.
public struct SessionCopyResult: Hashable, Sendable, Codable {
  public var path: String
  public var status: SessionStatus
  public var frames: Int
  /// Frames that cannot be replayed, in the original either.
  public var damagedFrames: Int
  public var sessionDigest: Digest128
  /// In words: what a reader should know.
  public var notes: [String]
}

/// A copy of a session as its last commit left it, also while a recorder goes on with it.
///
/// Rows and media agree: of each media file only what that commit speaks of is copied. The copy is
/// closed, every packet of it is held against its checksum, and only then it gets its name.
public struct SessionSnapshot: Sendable {
  private let folder: SessionFolder
  private let target: SessionTarget
  private let report: @Sendable (SessionDoctor.Progress) -> Bool

  /// - Parameter report: Told how far it is, in packets; answering false stops it, with nothing left.
  public init(
    of path: String, to target: SessionTarget,
    report: @escaping @Sendable (SessionDoctor.Progress) -> Bool = { _ in true }
  ) {
    folder = SessionFolder(path: path)
    self.target = target
    self.report = report
  }

  /// - Throws: `SessionError`. Nothing is left behind.
  public func run() throws -> SessionCopyResult { try make() }

  private func make() throws(SessionError) -> SessionCopyResult {
    // Says what is wrong with a session that cannot be copied.
    _ = try SessionReader.open(folder)
    let destination = try target.folder(for: folder)
    let site = try BuildSite(for: destination)
    do throws(SessionError) {
      let notes = try copy(to: site)
      let checked = try Self.checked(site.folder, as: destination)
      try site.finish()
      return SessionCopyResult(
        path: destination.path, status: checked.status, frames: checked.frames,
        damagedFrames: checked.damagedFrames, sessionDigest: checked.digest, notes: notes)
    } catch {
      site.discard()
      throw error
    }
  }

  /// - Returns: notes for people.
  private func copy(to site: BuildSite) throws(SessionError) -> [String] {
    try fromStore { () throws(StoreError) in
      try StoreReader.copy(folder.database, to: site.folder.database)
    }
    let reader = try SessionReader(site.folder, options: ReadOptions(framesPerChain: nil))
    let commit = try fromStore { () throws(StoreError) in
      try reader.index.store.lastCommit().ordinal
    }
    try SessionClosing.check(reader.index.store, at: folder.database)
    let isClosed = reader.index.store.isClosed
    try copyMedia(of: reader, to: site)
    let notes = try? String(contentsOfFile: folder.notes, encoding: .utf8)
    try site.write(notes ?? "# \(folder.name)\n", to: site.folder.notes)
    let closing = SessionClosing(folder: site.folder, report: report)
    guard !isClosed else {
      if reader.index.store.hasJournal {
        _ = try fromStore { () throws(StoreError) in
          try StoreWriter(continuing: site.folder.database).close()
        }
      }
      return []
    }
    _ = try closing.close(reader) { (findings) throws(SessionError) in
      let losses =
        findings.damagedFrames > 0
        ? [("losses", "\(findings.damagedFrames) frames have damaged media")] : []
      return SessionClosing.Account(
        status: .clean, facts: [("snapshot", "commit \(commit)")] + losses, event: nil)
    }
    return ["taken at commit \(commit) of a session that was not closed"]
  }

  /// Of a file under way, what its last commit speaks of; of others all.
  private func copyMedia(of reader: SessionReader, to site: BuildSite) throws(SessionError) {
    var limits: [String: Int64] = [:]
    for segment in reader.index.segments.values where !segment.isClosed {
      limits[segment.file] = max(limits[segment.file] ?? 0, segment.bytes)
    }
    let files = try fromStore { () throws(StoreError) in try reader.index.store.files() }
    for name in Set(reader.mediaFiles() + files.map(\.path)).sorted() {
      let source = try folder.file(name)
      guard FileManager.default.fileExists(atPath: source) else {
        throw .mediaMissing(file: source)
      }
      try site.bring(source, as: name, bytesMax: limits[name])
      guard report(SessionDoctor.Progress(done: 0, total: 0)) else { throw .interrupted }
    }
  }

  /// A folder that is about to become a session, opened as anybody would.
  static func checked(
    _ folder: SessionFolder, as target: SessionFolder
  ) throws(SessionError) -> (
    status: SessionStatus, frames: Int, damagedFrames: Int, digest: Digest128
  ) {
    let reader = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
    let store = reader.index.store
    guard store.isClosed, !store.hasJournal else {
      throw .recoveryFailed(path: target.path, cause: "the copy's database is still open")
    }
    try SessionClosing.check(store, at: target.database)
    let (digest, damaged) = try fromStore { () throws(StoreError) in
      let counts = try reader.index.tracks.map { track throws(StoreError) in
        try store.counts(track: track)
      }
      return (try store.digest(), counts.reduce(0) { $0 + $1.damaged })
    }
    return (
      try reader.sessionStatus(), reader.tracks.reduce(0) { $0 + $1.frameCount }, damaged, digest
    )
  }
}
