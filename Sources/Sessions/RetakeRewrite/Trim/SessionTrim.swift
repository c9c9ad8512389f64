import Foundation
package import RetakeCore
package import RetakeSession

/// The result of a trim.
package struct TrimResult: Hashable, Sendable, Codable {
  package var path: String
  package var status: SessionStatus
  package var frames: Int
  /// Number of frames whose packets were copied from the original.
  package var copiedFrames: Int
  /// Number of frames that were encoded again without loss, because they depend on packets outside
  /// the span.
  package var encodedFrames: Int
  /// Number of frames without pixels, in the original either.
  package var damagedFrames: Int
  package var events: Int
  /// Duration of the kept span, from its first frame to its last.
  package var durationNanoseconds: Int64
  package var sessionDigest: Digest128
  /// Remarks for the reader.
  package var notes: [String]
}

/// A new session that contains a time span of another one.
///
/// The copy excludes all data that was visible only before or after the span: packets are copied
/// only if all frames that they show are inside, and other frames are encoded again without loss.
/// Frames keep their times and pixels, which is checked frame by frame before the new session gets
/// its name.
package struct SessionTrim: Sendable {
  package struct Options: Hashable, Sendable {
    /// Offset from the session's first frame.
    package var from: Duration
    /// Offset from the session's first frame, exclusive; nil means the end.
    package var to: Duration?
    /// The tracks to keep; nil means all.
    package var tracks: Set<Int>?
    package var target: SessionTarget

    package init(
      from: Duration = .zero, to: Duration? = nil, tracks: Set<Int>? = nil, target: SessionTarget
    ) {
      (self.from, self.to, self.tracks, self.target) = (from, to, tracks, target)
    }
  }

  private let folder: SessionFolder
  private let options: Options
  private let report: @Sendable (SessionCheck.Progress) -> Bool

  /// - Parameter report: Called with the progress in frames; returning false stops the trim, which
  ///   then removes its files.
  package init(
    of path: String, _ options: Options,
    report: @escaping @Sendable (SessionCheck.Progress) -> Bool = { _ in true }
  ) {
    folder = SessionFolder(path: path)
    self.options = options
    self.report = report
  }

  /// - Throws: `SessionError`. A failed trim removes its files.
  package func run() throws -> TrimResult {
    let reader = try SessionReader(
      folder, options: ReadOptions(framesPerChain: nil), trust: .checked)
    // Before the span is looked up: with rows missing, the result would be a shorter session that
    // looks complete.
    try reader.requireWholeRows()
    guard reader.index.store.isClosed else { throw SessionError.notClosed(folder) }
    try reader.index.requireSizes()
    let span = try TrimSpan(
      reader, from: options.from, to: options.to, of: options.tracks)
    let destination = try options.target.folder(for: folder)
    do {
      return try make(reader, span, destination)
    } catch let error as SessionError {
      guard case .pixelMismatch = error else { throw error }
      throw try FirstMismatch(reader: reader, tracks: span.tracks).error(orElse: error, report)
    }
  }

  private func make(
    _ reader: SessionReader, _ span: TrimSpan, _ destination: SessionFolder
  ) throws -> TrimResult {
    do {
      return try make(reader, span, destination, copies: true)
    } catch SessionError.trimDiffers {
      // Some decoder depends on more packets than the index records, so encode all frames instead.
      return try make(reader, span, destination, copies: false)
    }
  }

  private func make(
    _ reader: SessionReader, _ span: TrimSpan, _ destination: SessionFolder, copies: Bool
  ) throws -> TrimResult {
    let rows = try TrimRows(reader: reader, span: span)
    let notes = try rows.notes()
    let built = try BuiltSession(destination) { site in
      // Each frame is written, and then compared with the original's.
      var progress = TrimProgress(total: 2 * span.frameCount, report: report)
      var tracks: [TrimmedTrack] = []
      for track in span.tracks {
        // Segments are numbered over all tracks (docs/formats/session.md).
        let number = tracks.reduce(0) { $0 + $1.segments.count }
        tracks.append(
          try TrimmedTrack(
            reader: reader, track: track, site: site.folder, firstSegment: number, copies: copies,
            origin: span.origin, progress: &progress))
      }
      try rows.write(tracks, to: site.folder.database)
      try site.write(notes, to: site.folder.notes)
      // Last: the copy is read as any session, with the rows and media that it will have.
      try TrimProof(original: reader, copy: site.folder).check(span.tracks, &progress)
      return tracks
    }
    let encoded = built.made.reduce(0) { $0 + $1.encodedFrames }
    let opacity = try reader.opacityTracks(among: span.tracks.map(\.track))
    let unreadable = built.made.reduce(0) { $0 + $1.unreadableFrames }
    return TrimResult(
      path: destination.path, status: built.status, frames: built.frames,
      copiedFrames: built.frames - encoded - unreadable, encodedFrames: encoded,
      damagedFrames: built.damagedFrames, events: rows.events.count,
      durationNanoseconds: span.durationNanoseconds, sessionDigest: built.digest,
      notes: opacity.map { "track \($0): \(FootageText.opacity)" } + Self.notes(encoded, rows)
        + Self.notes(encoded, opacity: opacity))
  }

  private static func notes(_ encoded: Int, opacity: [Int]) -> [String] {
    guard encoded > 0, !opacity.isEmpty else { return [] }
    return ["frames that were encoded again have no opacity; copied frames keep it"]
  }

  private static func notes(_ encoded: Int, _ rows: TrimRows) -> [String] {
    var notes: [String] = []
    if encoded > 0 {
      notes.append(
        encoded == 1
          ? "1 frame depends on packets outside of the span and was encoded again, without loss"
          : "\(encoded) frames depend on packets outside of the span and were encoded again, "
            + "without loss"
      )
    }
    if rows.carriedEvents > 0 {
      notes.append(
        counted(
          rows.carriedEvents, "state of the device from before the span is kept",
          "states of the device from before the span are kept"))
    }
    if rows.leavesDecisions {
      notes.append(
        "inputs, decisions and results of live runs are left out: they depend on earlier frames")
    }
    return notes
  }
}
