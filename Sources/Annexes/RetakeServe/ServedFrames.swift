import Foundation
import RetakeBuffers
import RetakeCore
import RetakeSession
import RetakeSuite

/// Images of frames directly from the sessions, decoded on request.
///
/// One thread decodes. Scrubbing requests neighboring frames, which are fast to decode one after
/// another.
final class ServedFrames: Sendable {
  /// The most sessions that stay open.
  private static let readersMax = 4
  /// The most bytes of images that are kept.
  private static let pictureBytesMax = 32 << 20
  /// In pixels; the largest width that can be requested.
  static let widthMax = 1_920
  static let defaultWidth = 960

  /// Identifies an image.
  struct Name: Hashable, Sendable {
    var session: String
    var frame: FrameID
    var width = ServedFrames.defaultWidth
  }

  /// The data of the index for a frame.
  struct Facts: Hashable, Sendable, Encodable {
    var frame: FrameID
    var timeNanoseconds: Int64
    var damage: String?
  }

  /// Facts of the index files that change with each commit of a session that is being recorded.
  /// SQLite appends to the write-ahead log, and copies it into the database only now and then.
  struct IndexState: Hashable, Sendable {
    private struct File: Hashable, Sendable {
      var modified: Date?
      var bytes: Int?
    }

    private let database: File
    private let log: File

    init(_ folder: SessionFolder) {
      (database, log) = (Self.file(folder.database), Self.file(folder.database + "-wal"))
    }

    private static func file(_ path: String) -> File {
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      return File(
        modified: attributes?[.modificationDate] as? Date, bytes: attributes?[.size] as? Int)
    }
  }

  private struct OpenSession: Sendable {
    var name: String
    var state: IndexState
    var reader: SessionReader
  }

  private struct State: Sendable {
    /// Sorted by last use, here and below; the most recently used is last.
    var sessions: [OpenSession] = []
    var pictures: [(name: Name, state: IndexState, png: Data)] = []
  }

  private let project: Project
  private let folder: ServedFolder
  private let state = Locked(State())
  private let queue = DispatchQueue(label: "retake.serve.frames")

  init(project: Project, folder: ServedFolder) {
    self.project = project
    self.folder = folder
  }

  /// - Throws: `ServeError`, `SessionError`.
  func png(_ name: Name) async throws -> Data {
    try await onQueue { [self] in try makePNG(name) }
  }

  /// - Throws: As `png(_:)`.
  func tracks(of session: String) async throws -> [TrackDescription] {
    try await onQueue { [self] in try open(session).reader.tracks }
  }

  /// - Throws: As `png(_:)`.
  func facts(_ session: String, _ frame: FrameID) async throws -> Facts {
    try await onQueue { [self] in
      let entry = try entry(frame, in: try open(session).reader)
      return Facts(
        frame: frame, timeNanoseconds: entry.timestamp.nanoseconds, damage: entry.damage)
    }
  }

  private func onQueue<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    // Decoding on a thread of the concurrency pool would hold up the responses to other requests.
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try work() }) }
    }
  }

  // MARK: - On the queue

  private func makePNG(_ name: Name) throws -> Data {
    let session = try open(name.session)
    if let known = kept(name, session.state) { return known }
    let entry = try entry(name.frame, in: session.reader)
    guard entry.damage == nil, !entry.isPayloadMissing else {
      throw ServeError(
        404, "serve.frame.noPixels", "frame \(name.frame) has no picture",
        cause: entry.damage ?? "the recorder shed it")
    }
    let frame = try session.reader.frame(name.frame)
    // Outside of the lock, because encoding is slow.
    let png = Data(try FrameImage.png(of: frame, widthMax: name.width))
    state.withLock { state in
      state.pictures.append((name, session.state, png))
      var bytes = state.pictures.reduce(0) { $0 + $1.png.count }
      // Ends: at most one round per image.
      while bytes > Self.pictureBytesMax, let first = state.pictures.first {
        bytes -= first.png.count
        state.pictures.removeFirst()
      }
    }
    return png
  }

  private func kept(_ name: Name, _ index: IndexState) -> Data? {
    state.withLock { state in
      guard
        let place = state.pictures.firstIndex(where: { $0.name == name && $0.state == index })
      else { return nil }
      let found = state.pictures.remove(at: place)
      state.pictures.append(found)
      return found.png
    }
  }

  private func entry(_ frame: FrameID, in reader: SessionReader) throws -> FrameEntry {
    guard reader.tracks.contains(where: { $0.track == frame.track }),
      let entry = try reader.entries(
        of: frame.track, sequences: frame.sequence..<frame.sequence + 1
      ).first
    else { throw ServeError.notFound("frame \(frame) in this session") }
    return entry
  }

  private func open(_ name: String) throws -> OpenSession {
    let folder = try sessionFolder(name)
    // Before it is opened: a commit in between makes the next request open it again.
    let index = IndexState(folder)
    let known = state.withLock { state -> OpenSession? in
      guard
        let place = state.sessions.firstIndex(where: { $0.name == name && $0.state == index })
      else { return nil }
      let found = state.sessions.remove(at: place)
      state.sessions.append(found)
      return found
    }
    if let known { return known }
    let session = OpenSession(
      name: name, state: index, reader: try SessionReader(opening: folder.path))
    state.withLock { state in
      // The session has grown, and this is its reader from before.
      state.sessions.removeAll { $0.name == name }
      state.sessions.append(session)
      if state.sessions.count > Self.readersMax { state.sessions.removeFirst() }
    }
    return session
  }

  /// Finds a session of the project by its name only.
  private func sessionFolder(_ name: String) throws -> SessionFolder {
    // Among the names that exist, so that no part of a request becomes a path.
    guard project.sessionNames.contains(name) else {
      throw ServeError.notFound("session '\(name)'")
    }
    let session = SessionFolder(path: "\(project.recordings)/\(name)")
    try folder.check(session: session)
    return session
  }
}
