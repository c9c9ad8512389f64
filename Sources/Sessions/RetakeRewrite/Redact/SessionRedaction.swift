import Foundation
import RetakeCore
import RetakeMedia
package import RetakeSession
import RetakeStore

/// A copy of one track of a session in which areas of the frames are unrecognizable.
///
/// The copy has the frames, encoded again, with times from zero on, and no other data of the original:
/// no packet, other track, sound, sensor, event, live run, note, date or name.
package struct SessionRedaction {
  package struct Options: Sendable {
    package var target: SessionTarget
    package var encoding: ReplayEncoding
    /// The file with the key of the code that names the original; nil for a copy without a code.
    package var keyFile: String?

    package init(target: SessionTarget, encoding: ReplayEncoding, keyFile: String? = nil) {
      (self.target, self.encoding, self.keyFile) = (target, encoding, keyFile)
    }
  }

  /// The fact of the database, a JSON object.
  static let fact = "redacted"

  /// Whether a session is a redacted copy.
  package static func hasMade(_ session: String) -> Bool {
    let reader = try? SessionReader(opening: session)
    return (try? reader?.index.store.meta(fact)) != nil
  }

  private let reader: SessionReader
  private let destination: SessionFolder
  private let encoding: ReplayEncoding
  private let report: @Sendable (SessionCheck.Progress) -> Bool
  /// HMAC-SHA-256 of the original's digest, in hexadecimal digits.
  package let parent: String?

  /// Checks everything that can be checked before the pipeline runs.
  ///
  /// - Parameter report: Called with the progress, in frames read and checked; returning false
  ///   stops the copy, which then removes its files.
  /// - Throws: `SessionError`: a session that is open or damaged, a name that is taken; or
  ///   `session.redact.key`.
  package init(
    of path: String, _ options: Options,
    report: @escaping @Sendable (SessionCheck.Progress) -> Bool = { _ in true }
  ) throws {
    let folder = SessionFolder(path: path)
    reader = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
    guard reader.index.store.isClosed else { throw SessionError.notClosed(folder) }
    // All rows are checked here, so the reader does not check them again.
    try SessionClosing.check(reader.index.store, at: folder.database)
    try reader.index.requireSizes()
    destination = try options.target.folder(for: folder)
    let digest = "\(try reader.index.store.digest())"
    parent = try options.keyFile.map { try Self.code(of: digest, keyFile: $0) }
    (encoding, self.report) = (options.encoding, report)
  }

  private static let keyBytes: ClosedRange<Int> = 16...4_096

  private static func code(of digest: String, keyFile: String) throws -> String {
    func problem(_ cause: String) -> ErrorFacts {
      ErrorFacts(
        "session.redact.key", "this file cannot be the key of a redaction", cause: cause,
        at: keyFile, advice: "Make a key, and keep it secret: openssl rand -out KEYFILE 32")
    }
    let key: Data
    do {
      key = try RegularFile.contents(
        keyFile, links: .followed, bytesMax: Int64(keyBytes.upperBound))
    } catch let refusal as RegularFile.Refusal {
      throw problem(refusal.description)
    }
    guard keyBytes.contains(key.count) else {
      throw problem(
        "it has \(counted(key.count, "byte")); a key has at least \(keyBytes.lowerBound)")
    }
    var code = HmacSha256(key: [UInt8](key))
    code.append([UInt8](digest.utf8))
    return code.finish().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Makes the copy.
  ///
  /// - Parameters:
  ///   - track: The track that is copied.
  ///   - areas: By the frame's sequence, for each frame of the track.
  ///   - list: The text of `redaction.jsonl`.
  /// - Throws: `SessionError`. A failed copy removes its files.
  package func run(
    track: Int, areas: [[RedactedArea]], list: String
  ) throws -> SessionCopyResult {
    let first = try reader.index.frame(FrameID(track: track, sequence: 0))
    let edit = FrameEdit(originNanoseconds: first?.ptsNanoseconds ?? 0) { frame in
      // Traps for a frame that the list lacks: its objects would be copied as they are.
      try frame.averaged(in: areas[frame.id.sequence])
    }
    let built = try BuiltSession(destination) { site in
      let writer = try StoreWriter(building: site.folder.database, facts: try facts(track))
      var progress = TrimProgress(total: 2 * areas.count, report: report)
      var account = OptimizeAccount()
      try OptimizedTrack(
        reader: reader, track: track, site: site.folder, encoding: encoding, writer: writer,
        edit: edit
      ).write(firstSegment: 0, &account, &progress)
      try write(list, to: site, writer)
      try writer.close()
    }
    return built.result(at: destination.path, notes: [])
  }

  private func write(_ list: String, to site: SessionBuilder, _ writer: StoreWriter) throws {
    let path = try site.folder.file(RedactionList.name)
    try site.write(list, to: path)
    let digest = try mediaDigest(path) { _ in true }
    writer.append([FileRecord(path: RedactionList.name, role: "redaction", sha256: digest)])
    try site.write(
      "A redacted copy: the pixels of the areas in \(RedactionList.name) are means of cells.\n",
      to: site.folder.notes)
  }

  private func facts(_ track: Int) throws -> StoreWriter.Facts {
    let counts = try reader.index.store.counts(track: track)
    let standing = SessionStanding(
      damagedFrames: max(0, counts.damaged - counts.shed), missingFrames: counts.shed)
    let isMirrored = reader.tracks.contains { $0.track == track && $0.isMirrored }
    let redacted = JSONValue.object(parent.map { ["parent": .string($0)] } ?? [:])
    return standing.facts + [
      // A session without an imported file.
      ("kind", "recorded"), (Self.fact, redacted.canonicalText),
      (ColorFacts.fact, ColorFacts([(track, reader.color(of: track))]).stored),
      (MirroredTracks.fact, MirroredTracks(isMirrored ? [track] : []).stored),
    ]
  }
}
