import Foundation
package import RetakeCore
import RetakeMedia
package import RetakeSession
import RetakeStore

/// The result of making a replay copy.
package struct OptimizeResult: Hashable, Sendable, Codable {
  package var path: String
  package var status: SessionStatus
  /// The name of the encoding: `raw`.
  package var codec: String
  /// Whether every frame has the original's pixels.
  package var exact: Bool
  /// Whether packets of the original have opacity, which no frame has, and the copy has not; nil
  /// if not.
  package var lacksOpacity: Bool?
  package var frames: Int
  /// Number of frames whose pixels differ from the original's; 0 for an exact copy.
  package var differingFrames: Int
  /// Number of frames that cannot be replayed, in the original either.
  package var damagedFrames: Int
  /// Sizes of the original's folder and of the copy's.
  package var originalBytes: Int64
  package var bytes: Int64
  package var sessionDigest: Digest128
  /// Measured over the first track's first frames, read in order when the copy was made.
  package var measuredFrames: Int
  package var originalFramesPerSecond: Double
  package var framesPerSecond: Double
  /// Remarks for the reader.
  package var notes: [String]
}

/// A copy of a session that replays fast. The original is only read.
///
/// The copy keeps tracks, sequences, times, damage, events and live runs. The media is encoded
/// again so that frames, or short groups of them, can be decoded in parallel. The result is
/// decoded, and each frame is compared with the original's before the copy gets its name.
package struct SessionTranscode: Sendable {
  package struct Options: Sendable {
    package var target: SessionTarget
    package var encoding: ReplayEncoding
    /// Make the copy even if the original replays as fast.
    package var isForced: Bool

    package init(target: SessionTarget, encoding: ReplayEncoding = .raw, isForced: Bool = false) {
      (self.target, self.encoding, self.isForced) = (target, encoding, isForced)
    }
  }

  private let folder: SessionFolder
  private let options: Options
  /// Bytes that may be written at a future path; nil when unknown.
  private let freeBytes: @Sendable (String) -> Int64?
  private let report: @Sendable (SessionCheck.Progress) -> Bool

  /// - Parameter report: Called with the progress, in frames read and checked; returning false
  ///   stops the copy, which then removes its files.
  package init(
    of path: String, _ options: Options,
    report: @escaping @Sendable (SessionCheck.Progress) -> Bool = { _ in true }
  ) {
    self.init(of: path, options, freeBytes: { FreeSpace.freeBytes(above: $0) }, report: report)
  }

  init(
    of path: String, _ options: Options, freeBytes: @escaping @Sendable (String) -> Int64?,
    report: @escaping @Sendable (SessionCheck.Progress) -> Bool = { _ in true }
  ) {
    folder = SessionFolder(path: path)
    (self.options, self.freeBytes, self.report) = (options, freeBytes, report)
  }

  /// - Throws: `SessionError`: `.alreadyFast`, `.noRoom`, `.optimizeDiffers`, and errors of reading
  ///   the original. A failed copy removes its files.
  package func run() throws -> OptimizeResult {
    let reader = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
    guard reader.index.store.isClosed else { throw SessionError.notClosed(folder) }
    // All rows are checked here, so the reader does not check them again.
    try SessionClosing.check(reader.index.store, at: folder.database)
    try reader.index.requireSizes()
    // The notes are written last; whether they can be copied is known now.
    _ = try folder.notesText()
    let destination = try options.target.folder(for: folder)
    if !options.isForced { try checkWorth(reader) }
    let need = try OptimizeNeed(reader: reader, encoding: options.encoding)
    let originalBytes = need.originalBytes
    let opacity = try reader.opacityTracks(among: reader.index.tracks)
    let footage = try reader.footageNotes()
    // Where the free space is unknown, the copy is tried; a full disk ends it then.
    if let free = freeBytes(destination.path), free < need.bytes {
      throw SessionError.noRoom(path: options.target.into, needBytes: need.bytes, freeBytes: free)
    }
    let built = try BuiltSession(destination) { site in
      try writeNamingMismatch(reader, to: site)
    }
    let (copied, account) = built.made
    // After the copy has its name, so that both are read as any session is.
    let rate = DecodeRate(original: folder, copy: destination)
    return OptimizeResult(
      path: destination.path, status: built.status, codec: options.encoding.name,
      exact: account.isExact, lacksOpacity: opacity.isEmpty ? nil : true, frames: built.frames,
      differingFrames: account.differingFrames,
      damagedFrames: built.damagedFrames, originalBytes: originalBytes,
      bytes: copied, sessionDigest: built.digest, measuredFrames: rate.frames,
      originalFramesPerSecond: rate.originalFramesPerSecond,
      framesPerSecond: rate.copyFramesPerSecond,
      notes: footage + notes(opacity: opacity) + notes(account, destination)
        + notes(rate, destination))
  }

  /// Raw images cannot be improved, and a copy is not encoded again with its own encoding.
  private func checkWorth(_ reader: SessionReader) throws {
    let parts = reader.index.parts.values.flatMap(\.values)
    let isRaw = parts.allSatisfy { MediaStream($0).codec == ReplayEncoding.rawCodec }
    if isRaw { throw SessionError.alreadyFast(session: folder.path, codec: "raw images") }
    guard let lineage = try reader.index.store.meta(InputLineage.fact),
      let json = try? JSONValue(parsing: Data(lineage.utf8)),
      json["codec"] == .string(options.encoding.name)
    else { return }
    throw SessionError.alreadyFast(session: folder.path, codec: options.encoding.name)
  }

  private func writeNamingMismatch(
    _ reader: SessionReader, to site: SessionBuilder
  ) throws -> (bytes: Int64, account: OptimizeAccount) {
    do {
      return try write(reader, to: site)
    } catch let error as SessionError {
      // Tracks are written one after another, so a later track may have an earlier mismatch in the
      // order of capture, and a replay names the earlier mismatch.
      guard case .pixelMismatch = error else { throw error }
      let tracks = reader.tracks.filter { $0.frameCount > 0 }.map {
        TrimSpan.Track(track: $0.track, sequences: 0...$0.frameCount - 1)
      }
      throw try FirstMismatch(reader: reader, tracks: tracks).error(orElse: error, report)
    }
  }

  private func write(
    _ reader: SessionReader, to site: SessionBuilder
  ) throws -> (bytes: Int64, account: OptimizeAccount) {
    let frames = reader.tracks.reduce(0) { $0 + $1.frameCount }
    // Each frame is read, and is checked after its file is written.
    var progress = TrimProgress(total: 2 * frames, report: report)
    var account = OptimizeAccount()
    let writer = try StoreWriter(building: site.folder.database)
    for track in reader.index.tracks {
      let encoded = OptimizedTrack(
        reader: reader, track: track, site: site.folder, encoding: options.encoding, writer: writer)
      try encoded.write(firstSegment: account.segments, &account, &progress)
    }
    try OptimizedRows(reader: reader, encoding: options.encoding, report: report)
      .write(account, writer, site)
    return (SessionBuilder.byteCount(ofFolder: site.folder.path), account)
  }

  private func notes(_ account: OptimizeAccount, _ destination: SessionFolder) -> [String] {
    var notes: [String] = []
    if !account.isExact {
      notes.append(
        "pixels differ from the original's in \(counted(account.differingFrames, "frame")): "
          + "its goldens will not be equal")
    } else if destination.name != folder.name {
      notes.append(
        "goldens belong to the name of a session; to use goldens of \(folder.name), make the copy "
          + "in another folder: --into DIR --as \(folder.name)")
    }
    return notes
  }

  private func notes(opacity tracks: [Int]) -> [String] {
    guard !tracks.isEmpty else { return [] }
    return ["the copy has no opacity, and cannot replace the original: keep \(folder.path)"]
  }

  /// Warns if the copy is not faster, because speed is the only reason for its disk space.
  private func notes(_ rate: DecodeRate, _ destination: SessionFolder) -> [String] {
    guard rate.isNoGain else { return [] }
    return [
      "the copy is not read faster than the original here: use that, and remove the copy: "
        + "rm -r \(destination.path.shellWord)"
    ]
  }
}
