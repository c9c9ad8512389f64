import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeMedia
import RetakeStages

/// Inputs of the cases other than the session, as of a revision: models with their sidecars,
/// images, detections, programs, timings and device profiles.
///
/// A file that cannot be read from the revision is read from the working tree, and listed: the
/// comparison then cannot show a change of that file.
final class RevisionInputs: Sendable {
  private struct State {
    var untaken: [String] = []
    /// The project's folder among the copies of all files.
    var whole: URL?
  }

  private let project: Project
  private let files: RevisionFiles
  private let state = Locked(State())

  init(_ project: Project, _ files: RevisionFiles) {
    (self.project, self.files) = (project, files)
  }

  /// The project, with the files of the revision in place of the files of the working tree.
  var base: Project {
    var base = project
    base.places.model = { [self] in try model($0) }
    base.places.images = { [self] in try images($0) }
    base.places.checkImage = { [self] in try checkImage($0) }
    base.places.costs = { [self] in try file($0, project.places.costs) }
    base.places.detections = { [self] in try file($0, project.places.detections) }
    base.places.program = { [self] in try program($0) }
    return base
  }

  /// The pipeline of the revision; `nil` if the revision does not have its document. Pipelines that
  /// are compiled into this program are the same on both sides.
  ///
  /// - Throws: `SuiteError`, `PipelineError`.
  func pipeline(of definition: CaseDefinition) throws -> Pipeline? {
    let name = try project.pipelineName(definition.pipeline)
    let base = base
    if name.hasPrefix("example:") || name.hasPrefix(ProgramPipeline.prefix) {
      return try base.pipeline(name)
    }
    guard let data = try files.contents(of: name) else { return nil }
    return try PipelineDocument.parseStored(
      data, catalog: base.catalog, file: "\(files.revision):\(name)")
  }

  /// The files that could not be read from the revision since the last call, each with the reason.
  func takeUntaken() -> [String] {
    state.withLock { state in
      defer { state.untaken = [] }
      return state.untaken
    }
  }

  /// Notes a case that the revision defines otherwise: both runs use the working tree's.
  func noteDefinition(of testCase: CaseDefinition) throws {
    guard let data = try files.contents(of: Project.fileName) else { return }
    var old = Project(folder: project.folder)
    do {
      try old.read(data)
    } catch is SuiteError {
      return note(Project.fileName, "cannot be read there")
    }
    guard let known = old.definition(named: testCase.name), known != testCase else { return }
    note(Project.fileName, "another case '\(testCase.name)' there")
  }

  private func note(_ path: String, _ reason: String) {
    let text = "\(path) (\(reason))"
    state.withLock { if !$0.untaken.contains(text) { $0.untaken.append(text) } }
  }

  private var absence: String { "not in \(files.revision)" }

  // MARK: Single files

  /// - Parameter own: Where the working tree has the file.
  private func file(_ path: String, _ own: (String) throws -> String) throws -> String {
    if let copy = try taken(path) { return copy }
    // A golden may have no later results file on either side.
    if FileManager.default.fileExists(atPath: project.path(path)) { note(path, absence) }
    return try own(path)
  }

  /// The revision's file; `nil` if the revision does not have it.
  private func taken(_ path: String) throws -> String? {
    guard let copy = try files.copy(of: path) else { return nil }
    guard let pointer = LargeFilePointer(file: copy.path, links: .refused) else { return copy.path }
    return try fetched(pointer, path, at: copy)
  }

  /// The model next to its sidecar, each from the revision if it is there.
  private func model(_ path: String) throws -> String {
    let models = project.registry.annexes.models
    let sidecar = try models.flatMap { try files.copy(of: $0.sidecar(path)) }
    if let copy = try taken(path) { return copy }
    // A sidecar that names the model's digest is checked against the file that is read.
    if sidecar.map({ models?.namesDigest($0.path) }) != true { note(path, absence) }
    guard sidecar != nil, let relative = files.relative(path) else { return path }
    return try link(path, at: files.place(of: relative))
  }

  /// Links to the working tree's file in place of a Git LFS pointer of the revision. If the file
  /// does not have the digest of the pointer, it is listed.
  private func fetched(_ pointer: LargeFilePointer, _ path: String, at copy: URL) throws -> String {
    let file = project.path(path)
    let own = try? Sha256.digest(ofFile: file, continues: { _ in true })
    // If neither side was fetched, both read the same pointer.
    if own != pointer.sha256, LargeFilePointer(file: file) != pointer {
      note(path, "a pointer of Git LFS there: git lfs fetch origin \(files.revision)")
    }
    return try link(path, at: copy)
  }

  /// Puts a link to the working tree's file among the copies.
  private func link(_ path: String, at place: URL) throws -> String {
    do {
      try? FileManager.default.removeItem(at: place)
      try FileManager.default.createSymbolicLink(
        atPath: place.path, withDestinationPath: project.path(path))
    } catch {
      throw SuiteError.noRevision(files.revision, cause: error.systemText)
    }
    return place.path
  }

  // MARK: Folders

  private func images(_ path: String) throws -> String {
    if let copy = try taken(path) { return copy }
    if let relative = files.relative(path) {
      _ = try whole()
      let place = files.place(of: relative)
      if FileManager.default.fileExists(atPath: place.path) { return place.path }
    }
    note(path, absence)
    return try project.places.images(path)
  }

  /// An image among the copies may be a link, too.
  private func checkImage(_ path: String) throws {
    do {
      try InputPlaces.requireInside(files.copies.path, path)
    } catch is SuiteError {
      try project.places.checkImage(path)
    }
  }

  /// A program may read any file of its project, so it runs among the copies of all files.
  private func program(_ named: [String]) throws -> String? {
    let folder = try whole()
    for path in named { try complete(path) }
    return folder.path
  }

  /// Adds a file of a program's command that the revision does not have, such as a build product,
  /// or the project's own interpreter.
  private func complete(_ path: String) throws {
    guard let relative = files.relative(path), !path.hasPrefix("/"),
      FileManager.default.fileExists(atPath: project.path(relative))
    else { return }
    var missing = relative
    guard !FileManager.default.fileExists(atPath: files.place(of: missing).path) else { return }
    // The outermost folder that is missing: an interpreter looks for files next to its own.
    // Ends: each round removes one name.
    while let slash = missing.lastIndex(of: "/"), slash != missing.startIndex,
      !FileManager.default.fileExists(
        atPath: files.place(of: String(missing[..<slash])).path)
    {
      missing = String(missing[..<slash])
    }
    _ = try link(missing, at: files.place(of: missing))
    // A link out of the project, such as to the system's interpreter, belongs to the machine.
    let real = URL(fileURLWithPath: project.path(relative)).resolvingSymlinksInPath().path
    let own = URL(fileURLWithPath: project.folder).resolvingSymlinksInPath().path
    if real.hasPrefix(own + "/") { note(relative, absence) }
  }

  private func whole() throws -> URL {
    if let known = state.withLock({ $0.whole }) { return known }
    // Recordings may be large, and both runs read the recordings of the working tree.
    let folder = try files.copyAll(except: ["Recordings", "Goldens", ".retake"])
    try resolvePointers(in: folder)
    state.withLock { $0.whole = folder }
    return folder
  }

  private func resolvePointers(in folder: URL) throws {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
    for name in names.sorted() {
      let copy = folder.appending(path: name)
      guard let pointer = LargeFilePointer(file: copy.path, links: .refused) else { continue }
      _ = try fetched(pointer, name, at: copy)
    }
  }
}
