import Foundation
import RetakeCore
import RetakeRuntime

/// Finds and removes the objects of a folder that no pointer names.
package struct StoreSweep {
  package struct Report: Hashable, Sendable, Encodable {
    /// Objects that a pointer names.
    package var named = 0
    /// Objects that no pointer names and that are younger than the grace period.
    package var young = 0
    /// The other objects, as paths in the store. They were removed with `deletes`.
    package var unnamed: [String] = []
    package var unnamedBytes: Int64 = 0
    package var removed = 0
  }

  private let project: Project
  private let remote: String?
  /// How long an object stays that no pointer names, since it was last sent or found by a push.
  package var graceSeconds: Int64 = 7 * 86_400
  package var deletes = false

  package init(project: Project, remote: String?) {
    (self.project, self.remote) = (project, remote ?? project.store.remote)
  }

  /// - Parameter places: Pointers, folders with pointers, or projects; empty is this project.
  /// - Throws: `SuiteError`, before an object is removed, for a pointer that cannot be read, and for
  ///   a place without pointers.
  package func run(_ places: [String]) throws -> Report {
    guard let remote else { throw SuiteError.noRemote }
    guard let address = StoreAddress(remote) else { throw SuiteError.badRemote(remote) }
    guard let store = try address.open(in: project) as? FolderStore else {
      throw SuiteError.gcOfBucket
    }
    let files = try (places.isEmpty ? ["."] : places).flatMap { try pointers(in: project.path($0)) }
    let named = Set(try files.flatMap { try SessionPointer(reading: $0).objects }.map(\.sha256))
    var report = Report()
    for file in try objects(of: store) {
      if named.contains(URL(fileURLWithPath: file).lastPathComponent) {
        report.named += 1
      } else if let facts = try? RegularFile.facts(of: file), isOld(facts) {
        report.unnamed.append(String(file.dropFirst(store.folder.count + 1)))
        report.unnamedBytes += facts.bytes
        if deletes { report.removed += try remove(file) ? 1 : 0 }
      } else {
        report.young += 1
      }
    }
    return report
  }

  private func isOld(_ facts: RegularFile.Facts) -> Bool {
    let age = WallClock().anchor().unixNanoseconds - facts.modifiedNanoseconds
    return age > graceSeconds * 1_000_000_000
  }

  /// - Returns: `false` for an object that a push has found a moment ago and relies on.
  func remove(_ file: String) throws -> Bool {
    let url = URL(fileURLWithPath: file)
    let name = url.lastPathComponent
    // Between a look at its age and the removal, a push could find it. A push does not find it under
    // the hidden name, and has made it young if it found it before. No push finds a part.
    let hidden =
      name.hasPrefix(".")
      ? file : "\(url.deletingLastPathComponent().path)/.\(name).gc\(FolderStore.partial)"
    guard rename(file, hidden) == 0 else {
      if errno == ENOENT { return true }
      throw SuiteError.notWritable(path: file, cause: POSIXError.last.systemText)
    }
    guard let facts = try? RegularFile.facts(of: hidden), isOld(facts) else {
      if hidden != file { putBack(hidden, file) }
      return false
    }
    if unlink(hidden) == 0 || errno == ENOENT { return true }
    throw SuiteError.notWritable(path: file, cause: POSIXError.last.systemText)
  }

  private func putBack(_ hidden: String, _ file: String) {
    // Unlike a rename, a link leaves an object that a push has sent meanwhile.
    if link(hidden, file) == 0 || errno == EEXIST {
      unlink(hidden)
    } else {
      // A file system without links.
      rename(hidden, file)
    }
  }

  /// The objects of a store, and the parts of objects that ended pushes left, sorted.
  private func objects(of store: FolderStore) throws -> [String] {
    let root = "\(store.folder)/\(FolderStore.objects)"
    return try names(in: root).filter { $0.utf8.count == 2 }.flatMap { part in
      try names(in: "\(root)/\(part)").filter { name in
        StoredObject.isDigest(name) && name.hasPrefix(part)
          || name.hasPrefix(".\(part)") && name.hasSuffix(FolderStore.partial)
      }.map { "\(root)/\(part)/\($0)" }
    }
  }

  /// The pointers in a folder and in its folders, except hidden folders: a repository may have
  /// several projects.
  private func pointers(in place: String) throws -> [String] {
    if place.hasSuffix(SessionPointer.ending) { return [place] }
    var seen: Set<String> = []
    let found = try pointers(below: place, &seen)
    // A worktree that is empty, or a disk that is not mounted, would leave its sessions unnamed.
    guard !found.isEmpty else { throw SuiteError.noPointers(place) }
    return found
  }

  /// Links to folders are followed: `Recordings` may be one.
  private func pointers(below folder: String, _ seen: inout Set<String>) throws -> [String] {
    let place = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
    guard seen.insert(place).inserted else { return [] }
    var found: [String] = []
    for name in try names(in: folder) where !name.hasPrefix(".") {
      let path = "\(folder)/\(name)"
      var isFolder: ObjCBool = false
      if name.hasSuffix(SessionPointer.ending) {
        found.append(path)
      } else if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
        isFolder.boolValue
      {
        found += try pointers(below: path, &seen)
      }
    }
    return found
  }

  private func names(in folder: String) throws -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    } catch {
      throw SuiteError.placeUnreadable(folder, cause: error.systemText)
    }
  }
}
