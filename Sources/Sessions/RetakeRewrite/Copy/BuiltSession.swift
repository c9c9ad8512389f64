import RetakeCore
import RetakeSession

/// A new session that is made from another one. It is built in a hidden folder, checked as any
/// reader would check it, and only then gets its name.
struct BuiltSession<Made> {
  /// The result of the build.
  var made: Made
  var status: SessionStatus
  var frames: Int
  /// Number of frames that cannot be replayed.
  var damagedFrames: Int
  var digest: Digest128

  /// - Parameters:
  ///   - digest: The digest that the new session must have, if it is known.
  ///   - build: Fills the folder.
  /// - Throws: Errors of `build`, and why the new session is incomplete; a failed build removes its
  ///   files.
  init(
    _ target: SessionFolder, digest wanted: Digest128? = nil,
    _ build: (SessionBuilder) throws -> Made
  ) throws {
    self = try SessionBuilder.build(target) { site in
      // Read as any session before it gets its name: a session that a reader rejects must not
      // appear.
      let built = try Self(try build(site), in: site.folder, as: target)
      if let wanted, built.digest != wanted {
        throw SessionError.recoveryFailed(
          path: target.path, cause: "the copy has another digest than the session")
      }
      return built
    }
  }

  private init(
    _ made: Made, in folder: SessionFolder, as target: SessionFolder
  ) throws {
    let reader = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
    let store = reader.index.store
    guard store.isClosed, !store.hasJournal else {
      throw SessionError.recoveryFailed(
        path: target.path, cause: "the copy's database is still open")
    }
    // Under its future path, because the hidden folder is removed when this fails.
    try SessionClosing.check(store, at: target.database)
    self.made = made
    digest = try store.digest()
    status = try reader.sessionStatus()
    frames = reader.tracks.reduce(0) { $0 + $1.frameCount }
    damagedFrames = try reader.index.tracks.reduce(0) {
      try $0 + store.counts(track: $1).damaged
    }
  }

  func result(at path: String, notes: [String]) -> SessionCopyResult {
    SessionCopyResult(
      path: path, status: status, frames: frames, damagedFrames: damagedFrames,
      sessionDigest: digest, notes: notes)
  }
}

/// Copies the media of a session to another one, and reports progress in megabytes.
struct MediaCopy {
  /// Where the media is now.
  let folder: SessionFolder
  let reader: SessionReader
  /// Link to the media instead of copying it.
  var link = false
  /// Maximum bytes to copy of files that may still be written, by name; other files are copied
  /// completely.
  var limits: [String: Int64] = [:]
  let report: @Sendable (SessionCheck.Progress) -> Bool

  func run(to site: SessionBuilder) throws {
    // Before anything is copied: media with other bytes than were indexed makes no good copy.
    try reader.index.requireSizes(in: folder)
    let stored = try reader.index.store.files()
    var files: [(name: String, path: String, bytes: Int64)] = []
    // A file with a digest is usually media, too; each is copied once, in a fixed order.
    for name in Set(reader.mediaFiles() + stored.map(\.path)).sorted() {
      let path = try folder.file(name)
      guard let bytes = SessionBuilder.byteCount(path) else {
        throw SessionError.mediaMissing(file: path)
      }
      files.append((name, path, min(bytes, limits[name] ?? .max)))
    }
    let total = files.reduce(0) { $0 + $1.bytes }
    var done: Int64 = 0
    for file in files {
      let before = done
      done += file.bytes
      guard !link else {
        try site.link(file.path, as: file.name)
        continue
      }
      try site.bring(file.path, as: file.name, bytesMax: file.bytes) { copied in
        report(
          SessionCheck.Progress(
            done: Int((before + copied) >> 20), total: Int(total >> 20), unit: .megabytes))
      }
    }
    // A session that is still open is checked when the copy is closed, which marks its damage.
    guard reader.index.store.isClosed else { return }
    try SessionClosing(folder: folder, report: report).requireIntact(reader)
  }
}
