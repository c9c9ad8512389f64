import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore

/// Writes what a session holds into files that other programs read.
///
/// Every file is made beside its place and appears there whole.
public struct SessionExport: Sendable {
  /// The rows that a table is made of.
  public enum Rows: String, Hashable, Sendable, CaseIterable {
    case frames, packets, events, decisions, results, spans
  }

  /// How a table is written.
  public enum Form: String, Hashable, Sendable {
    /// RFC 4180, with a line of names.
    case csv
    /// One JSON object a line.
    case jsonLines
  }

  /// A media file that was written.
  public struct Media: Hashable, Sendable {
    public var file: String
    public var packets: Int
  }

  private let folder: SessionFolder
  private let report: @Sendable (SessionDoctor.Progress) -> Bool

  /// - Parameter report: Told how many rows or packets are done; answering false stops it.
  public init(
    of path: String, report: @escaping @Sendable (SessionDoctor.Progress) -> Bool = { _ in true }
  ) {
    folder = SessionFolder(path: path)
    self.report = report
  }

  /// Writes a track as one media file: the original as it is where that is what it holds, else its
  /// packets in the container that the file's name asks for. Where the track changes its codec or its
  /// size there is a file for each: `yard.mkv` becomes `yard-1.mkv`, `yard-2.mkv`.
  ///
  /// - Returns: what was written, in order.
  /// - Throws: `SessionError.fileExists`, `.unknownTrack`, or what the media says. All files appear
  ///   when all are whole.
  @discardableResult
  public func media(to path: String, track: Int? = nil) throws -> [Media] {
    let reader = try SessionReader(
      folder, options: ReadOptions(framesPerChain: nil), trust: .checked)
    try reader.requireWholeRows()
    return try MediaExport(reader: reader, report: report).run(to: path, track: track)
  }

  /// Writes rows as a table.
  ///
  /// - Parameter take: Given the table piece by piece, in place of a file.
  /// - Returns: how many rows there are, without the line of names.
  /// - Throws: `SessionError.nothingToExport`, or what the database says.
  @discardableResult
  public func table(
    _ rows: Rows, as form: Form, run: Int? = nil, to take: (String) throws -> Void
  ) throws -> Int {
    let reader = try SessionReader(
      folder, options: ReadOptions(framesPerChain: nil), trust: .checked)
    try reader.requireWholeRows()
    do {
      return try TableExport(reader: reader, rows: rows, form: form, run: run, report: report)
        .write(take)
    } catch let error as StoreError {
      throw SessionError(error)
    }
  }

  /// The same into a file, which must not exist.
  @discardableResult
  public func table(
    _ rows: Rows, as form: Form, run: Int? = nil, toFile path: String
  ) throws -> Int {
    let file = try NewFile(path)
    do {
      let count = try table(rows, as: form, run: run) { try file.write($0) }
      try file.finish()
      return count
    } catch {
      file.discard()
      throw error
    }
  }
}

/// A file that is written beside its place, and appears there whole or not at all.
final class NewFile {
  private let path: String
  /// Where it is until then.
  let hidden: String
  let handle: FileHandle

  init(_ path: String) throws(SessionError) {
    let url = URL(fileURLWithPath: path)
    self.path = url.path
    guard !FileManager.default.fileExists(atPath: url.path) else {
      throw .fileExists(path: path)
    }
    let suffix = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
    hidden =
      url.deletingLastPathComponent().path
      + "/.\(url.deletingPathExtension().lastPathComponent).\(UUID().uuidString.prefix(8))\(suffix)"
    guard FileManager.default.createFile(atPath: hidden, contents: nil),
      let handle = FileHandle(forUpdatingAtPath: hidden)
    else { throw .write(path: path, cause: String(cString: strerror(errno))) }
    self.handle = handle
  }

  func write(_ text: String) throws(SessionError) {
    do {
      try handle.write(contentsOf: Data(text.utf8))
    } catch {
      throw .write(path: path, cause: error.systemText)
    }
  }

  func finish() throws(SessionError) {
    do {
      try handle.synchronize()
      try handle.close()
      try FileManager.default.moveItem(atPath: hidden, toPath: path)
    } catch {
      discard()
      throw .write(path: path, cause: error.systemText)
    }
  }

  func discard() {
    try? handle.close()
    try? FileManager.default.removeItem(atPath: hidden)
  }
}
