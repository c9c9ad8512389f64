import Foundation
import RetakeCore
package import RetakeSession

/// Exports the contents of a session to files that other programs can read.
///
/// Every file is written under a hidden name and renamed when it is complete.
package struct SessionExport: Sendable {
  /// The rows that a table contains.
  package enum Rows: String, Hashable, Sendable, CaseIterable {
    case frames, packets, events, decisions, results, spans, samples
  }

  /// The format of a table.
  package enum Form: String, Hashable, Sendable {
    /// RFC 4180, with a header line.
    case csv
    /// One JSON object per line.
    case jsonLines
  }

  /// A media file that was written.
  package struct Media: Hashable, Sendable {
    package var file: String
    package var packets: Int
    /// The session's other tracks, which are in no file of this export; empty for a copy of the
    /// imported original, which has all of them.
    package var otherTracks: [Int] = []
    /// Whether the track's packets have opacity that the container does not hold.
    package var lacksOpacity = false
    /// Data of the session that the file lacks, for people.
    package var notes: [String] = []
  }

  private let folder: SessionFolder
  private let report: @Sendable (SessionCheck.Progress) -> Bool

  /// - Parameter report: Called with the number of rows or packets done; returning false stops the
  ///   export.
  package init(
    of path: String, report: @escaping @Sendable (SessionCheck.Progress) -> Bool = { _ in true }
  ) {
    folder = SessionFolder(path: path)
    self.report = report
  }

  /// Exports a track as one media file; `otherTracks` of the result names the omitted tracks. If
  /// the file's extension matches the imported original, the original is copied unchanged;
  /// otherwise the track's packets are written to the container of the extension. If the track's
  /// codec or size changes, there is a file for each part: `yard.mkv` becomes `yard-1.mkv`,
  /// `yard-2.mkv`.
  ///
  /// - Returns: the files that were written, in order.
  /// - Throws: `SessionError.fileExists`, `.unknownTrack`, or an error of the media. The files
  ///   appear only when all of them are complete.
  @discardableResult
  package func media(to path: String, track: Int? = nil) throws -> [Media] {
    try MediaExport(reader: try reader(), report: report).run(to: path, track: track)
  }

  /// The rows are checked: packets that are missing or altered would make a file that looks whole.
  private func reader() throws -> SessionReader {
    let reader = try SessionReader(
      folder, options: ReadOptions(framesPerChain: nil), trust: .checked)
    try reader.requireWholeRows()
    return reader
  }

  /// Writes rows as a table.
  ///
  /// - Parameters:
  ///   - sensor: Whose samples; may be left out if there is one sensor.
  ///   - take: Called with each piece of the table, instead of writing a file.
  /// - Returns: the number of rows, without the header line.
  /// - Throws: `SessionError.nothingToExport`, or an error of the database.
  @discardableResult
  package func table(
    _ rows: Rows, as form: Form, run: Int? = nil, sensor: String? = nil,
    to take: (String) throws -> Void
  ) throws -> Int {
    try TableExport(
      reader: try reader(), rows: rows, form: form, run: run, sensor: sensor, report: report
    ).write(take)
  }

  /// The same, written to a file that must not exist.
  @discardableResult
  package func table(
    _ rows: Rows, as form: Form, run: Int? = nil, sensor: String? = nil, toFile path: String
  ) throws -> Int {
    let file = try NewFile(path)
    do {
      let count = try table(rows, as: form, run: run, sensor: sensor) { try file.write($0) }
      try file.finish()
      return count
    } catch {
      file.discard()
      throw FullDisk.error(error, writing: path)
    }
  }
}

/// A file that must not exist yet, written under a hidden name until it is complete.
final class NewFile {
  private let path: String
  private let file: PendingFile

  /// The path until then.
  var hidden: String { file.hidden }
  var handle: FileHandle { file.handle }

  init(_ path: String) throws {
    let url = URL(fileURLWithPath: path)
    guard !FileManager.default.fileExists(atPath: url.path) else {
      throw SessionError.fileExists(path: path)
    }
    let ending = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
    guard let file = PendingFile(for: path, ending: ending) else {
      throw SessionError.write(path, POSIXError.last)
    }
    (self.path, self.file) = (url.path, file)
  }

  func write(_ text: String) throws {
    do {
      try handle.write(contentsOf: Data(text.utf8))
    } catch {
      throw SessionError.write(path, error)
    }
  }

  func finish() throws {
    do {
      try file.finish(replacing: false)
    } catch {
      throw SessionError.write(path, error)
    }
  }

  func discard() { file.discard() }
}
