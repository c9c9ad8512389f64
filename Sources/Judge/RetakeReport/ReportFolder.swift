package import Foundation
import RetakeCore

/// The folder that a run writes for people and for CI: `report.json`, `report.html`, `junit.xml`,
/// `codequality.json` and `summary.md`.
package enum ReportFolder {
  /// Writes all five files. Each file is written completely or not at all, and replaces an older
  /// one.
  ///
  /// - Parameters:
  ///   - folder: Created if it is missing. The caller chooses it; no file is written outside it.
  ///   - place: See `CodeQualityReport`.
  /// - Returns: The files in the order in which they were written. The page comes last, so that the
  ///   other files exist when it appears.
  /// - Throws: `ReportError`.
  @discardableResult
  package static func write(
    _ document: ReportDocument, to folder: URL, place: String = ""
  ) throws -> [URL] {
    try check(folder)
    let new = firstMissing(on: folder)
    do {
      try makeFolder(folder)
      return [
        try write(try json(document.encoded, "report.json", folder), "report.json", folder),
        try write(Data(JUnitReport.render(document).utf8), "junit.xml", folder),
        try write(
          try json(
            { try CodeQualityReport.render(document, place: place) }, "codequality.json", folder),
          "codequality.json", folder),
        try write(Data(MarkdownReport.render(document).utf8), "summary.md", folder),
        try write(Data(HTMLReport.render(document)), "report.html", folder),
      ]
    } catch {
      // A part of a report would look like a report.
      if let new { try? FileManager.default.removeItem(at: new) }
      throw error
    }
  }

  static func makeFolder(_ folder: URL) throws {
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw ReportError.notWritten(file: folder.path, reason: error.systemText)
    }
  }

  /// The first folder on the path that does not exist; `nil` if all do.
  private static func firstMissing(on folder: URL) -> URL? {
    var (url, missing) = (folder.standardizedFileURL, URL?.none)
    // Ends at the root folder, which always exists.
    while !RegularFile.isTaken(url.path), url.path != "/" {
      missing = url
      url.deleteLastPathComponent()
    }
    return missing
  }

  private static let names = [
    "report.json", "junit.xml", "codequality.json", "summary.md", "report.html",
  ]
  /// The largest report.json that is recognized; a report has at most some megabytes.
  package static let bytesMax: Int64 = 256 << 20

  /// Checks that only an older report would be replaced.
  ///
  /// - Throws: `report.folder.otherFile` for a file with the name of a report's file in a folder
  ///   whose `report.json` is missing or is something else.
  package static func check(_ folder: URL) throws {
    let present = names.map { folder.appending(path: $0) }
      .first { FileManager.default.fileExists(atPath: $0.path) }
    guard let present, !isReport(folder.appending(path: names[0])) else { return }
    throw ReportError(
      "report.folder.otherFile", "the report would replace a file that Retake did not write",
      at: present.path,
      advice: "Choose another folder with --report DIR, or move the file away first")
  }

  /// Also true of a report that another version wrote.
  private static func isReport(_ file: URL) -> Bool {
    struct Tool: Decodable {
      var tool: ReportTool
    }
    guard let data = try? RegularFile.contents(file.path, bytesMax: bytesMax) else { return false }
    return (try? JSONDecoder().decode(Tool.self, from: data)) != nil
  }

  private static func json(
    _ encoded: () throws -> Data, _ name: String, _ folder: URL
  ) throws -> Data {
    do {
      return try encoded()
    } catch {
      throw ReportError.notWritten(
        file: folder.appending(path: name).path, reason: error.causeText)
    }
  }

  /// Writes a file completely or not at all.
  static func write(
    _ data: Data, _ name: String, _ folder: URL
  ) throws -> URL {
    let file = folder.appending(path: name)
    do {
      // A browser or a server may read the older file now. `rename` replaces it at once, never
      // half.
      try data.write(to: file, options: .atomic)
    } catch {
      throw ReportError.notWritten(file: file.path, reason: error.systemText)
    }
    return file
  }
}
