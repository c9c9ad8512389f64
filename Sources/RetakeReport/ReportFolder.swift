package import Foundation
import RetakeCore

/// The folder that a run writes for people and for CI: `report.json`, `report.html`, `junit.xml`
/// and `summary.md`.
package enum ReportFolder {
  /// Writes all four files. Each file is written completely or not at all, and replaces an older
  /// one.
  ///
  /// - Parameter folder: Created if it is missing. The caller chooses it; nothing is written
  ///   outside it.
  /// - Returns: The files in the order in which they were written. The page comes last, so that the
  ///   other files exist when it appears.
  /// - Throws: `ReportError`.
  @discardableResult
  package static func write(
    _ document: ReportDocument, to folder: URL
  ) throws(ReportError) -> [URL] {
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw .notWritten(file: folder.path, reason: error.systemText)
    }
    return [
      try write(try json(document, folder), "report.json", folder),
      try write(Data(JUnitReport.render(document).utf8), "junit.xml", folder),
      try write(Data(MarkdownReport.render(document).utf8), "summary.md", folder),
      try write(Data(HTMLReport.render(document)), "report.html", folder),
    ]
  }

  private static func json(
    _ document: ReportDocument, _ folder: URL
  ) throws(ReportError) -> Data {
    do {
      return try document.encoded()
    } catch {
      throw .notWritten(file: folder.appending(path: "report.json").path, reason: "\(error)")
    }
  }

  private static func write(
    _ data: Data, _ name: String, _ folder: URL
  ) throws(ReportError) -> URL {
    let file = folder.appending(path: name)
    do {
      // A browser or a server may read the older file now. `rename` replaces it at once, never
      // half.
      try data.write(to: file, options: .atomic)
    } catch {
      throw .notWritten(file: file.path, reason: error.systemText)
    }
    return file
  }
}
