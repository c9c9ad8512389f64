package import Foundation
import RetakeCore
package import RetakeReport

/// The reports and the runs in a project's folder.
///
/// Links are not followed. Hidden folders, `Recordings` and `Goldens` are skipped.
package struct ReportLibrary: Sendable {
  /// How deep folders are searched.
  static let depthMax = 4
  /// The most entries that are examined. A project with more files should keep its reports
  /// elsewhere.
  static let entriesMax = 50_000

  /// A folder with the output of a run.
  package struct Item: Hashable, Sendable {
    /// Relative to the project.
    package var path: String
    package var folder: URL
    /// When its newest file was written, in nanoseconds since 1970.
    package var modifiedNanoseconds: Int64

    /// A short id that is the same for the same path.
    package var id: String { Digest128(of: path).short }
  }

  /// Reports of `retake test --report`, newest first.
  package private(set) var reports: [Item] = []
  /// Folders of `retake replay --output`, newest first.
  package private(set) var runs: [Item] = []

  package init(project: Project) {
    let root = URL(fileURLWithPath: project.folder, isDirectory: true)
    var room = Self.entriesMax
    var level = [(path: "", folder: root)]
    // Level by level, so that the bound on entries leaves out the deepest folders.
    for depth in 0...Self.depthMax {
      var next: [(path: String, folder: URL)] = []
      for (path, folder) in level {
        let entries = Self.entries(of: folder, room: &room)
        add(entries, path: path, folder: folder)
        // Only in the project itself: elsewhere these are folders like others.
        for name in entries.folders where depth > 0 || !["Recordings", "Goldens"].contains(name) {
          next.append((path.isEmpty ? name : "\(path)/\(name)", folder.appending(path: name)))
        }
      }
      level = next
    }
    reports.sort(by: Self.isNewer)
    runs.sort(by: Self.isNewer)
  }

  private mutating func add(_ entries: Entries, path: String, folder: URL) {
    func item(_ name: String) -> Item? {
      entries.files[name].map { Item(path: path, folder: folder, modifiedNanoseconds: $0) }
    }
    if entries.files["report.html"] != nil, let item = item("report.json") { reports.append(item) }
    if entries.files["golden.yml"] != nil, let item = item("run.json") { runs.append(item) }
  }

  private static func isNewer(_ left: Item, _ right: Item) -> Bool {
    // The path decides between equal times, so that the order is the same each time.
    left.modifiedNanoseconds == right.modifiedNanoseconds
      ? left.path < right.path : left.modifiedNanoseconds > right.modifiedNanoseconds
  }

  private struct Entries {
    var folders: [String] = []
    /// Modification times by name, of regular files only.
    var files: [String: Int64] = [:]
  }

  private static func entries(of folder: URL, room: inout Int) -> Entries {
    let manager = FileManager.default
    let names = (try? manager.contentsOfDirectory(atPath: folder.path)) ?? []
    var entries = Entries()
    // Sorted, so that the bound leaves out the same entries each time.
    for name in names.sorted() where !name.hasPrefix(".") {
      guard room > 0 else { break }
      room -= 1
      let path = folder.appending(path: name).path
      // The attributes describe a link itself, so links are neither files nor folders here.
      guard let attributes = try? manager.attributesOfItem(atPath: path) else { continue }
      switch attributes[.type] as? FileAttributeType {
      case .typeDirectory: entries.folders.append(name)
      case .typeRegular:
        let date = attributes[.modificationDate] as? Date
        entries.files[name] = Int64((date?.timeIntervalSince1970 ?? 0) * 1e9)
      default: break
      }
    }
    return entries
  }
}

extension ReportLibrary {
  /// The document of the report whose page is at a path.
  ///
  /// - Throws: `SuiteError.noReport`, `ReportError`.
  package static func document(at path: String?, in project: Project) throws -> ReportDocument {
    let file = try page(at: path, in: project).deletingLastPathComponent()
      .appending(path: "report.json")
    let data: Data
    do {
      data = try RegularFile.contents(file.path, bytesMax: ReportFolder.bytesMax)
    } catch {
      throw SuiteError.noReport(path: file.path)
    }
    return try ReportDocument(parsing: data)
  }

  /// The page of a report: the newest report, or the report at a path.
  ///
  /// - Parameter path: A report's folder or its page, relative to the project.
  /// - Throws: `SuiteError.noReport`.
  package static func page(at path: String?, in project: Project) throws -> URL {
    guard let path else {
      guard let newest = ReportLibrary(project: project).reports.first else {
        throw SuiteError.noReport(path: project.folder)
      }
      return newest.folder.appending(path: "report.html")
    }
    var isFolder: ObjCBool = false
    let given = URL(fileURLWithPath: project.path(path))
    guard FileManager.default.fileExists(atPath: given.path, isDirectory: &isFolder) else {
      throw SuiteError.noReport(path: path)
    }
    guard isFolder.boolValue else {
      guard given.pathExtension == "html" else { throw SuiteError.noReport(path: path) }
      return given
    }
    let page = given.appending(path: "report.html")
    guard FileManager.default.fileExists(atPath: page.path) else {
      throw SuiteError.noReport(path: path)
    }
    return page
  }
}
