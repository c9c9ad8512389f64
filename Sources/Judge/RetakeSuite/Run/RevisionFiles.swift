import Foundation
import RetakeCore
import RetakeRuntime

/// Files of a project as they were in a revision of its git repository.
///
/// They are checked out through a separate index into a separate folder. Neither the repository's
/// index nor its files are changed.
struct RevisionFiles: Sendable {
  let revision: String
  /// Its full hash.
  let commit: String
  private let project: String
  private let scratch: URL
  /// The path of the project's folder in the repository, with a trailing slash; empty for the
  /// repository's root.
  private let prefix: String
  private let isInterrupted: @Sendable () -> Bool

  /// - Throws: `SuiteError.noRevision`, `RuntimeError.interrupted`.
  init(
    _ revision: String, of project: String, scratch: URL,
    isInterrupted: @escaping @Sendable () -> Bool
  ) throws {
    self.revision = revision
    self.project = project
    self.scratch = scratch
    self.isInterrupted = isInterrupted
    let git = Git(folder: project, index: scratch.appending(path: "index").path, isInterrupted)
    // A revision that begins with `-` must not be taken for an option.
    commit = try git.run(
      ["rev-parse", "--verify", "--quiet", "--end-of-options", "\(revision)^{commit}"],
      revision, failure: "the repository has no such revision")
    prefix = try git.run(["rev-parse", "--show-prefix"], revision, failure: "git failed")
    _ = try git.run(["read-tree", commit], revision, failure: "its tree cannot be read")
  }

  /// The content of a file; `nil` if the revision does not have it.
  ///
  /// - Parameter path: Relative to the project, or absolute and inside it.
  /// - Throws: `SuiteError.noRevision` if git cannot read the file, `RuntimeError.interrupted`.
  func contents(of path: String) throws -> Data? {
    guard let file = try copy(of: path) else { return nil }
    do {
      return try Data(contentsOf: file)
    } catch {
      throw SuiteError.noRevision(revision, cause: error.systemText)
    }
  }

  /// A copy of a file in a separate folder, in the same place in the tree; `nil` if the revision
  /// does not have the file, or has a link or a folder there.
  ///
  /// - Parameter path: Relative to the project, or absolute and inside it.
  /// - Throws: As `contents(of:)`.
  func copy(of path: String) throws -> URL? {
    guard let relative = relative(path) else { return nil }
    let git = git("index")
    // Asked for first: `checkout-index` ends with the same status for a file that is missing and
    // for a full disk.
    let entry = try git.run(
      ["ls-tree", commit, "--", relative], revision, failure: "its tree cannot be read")
    guard entry.split(separator: "\t").first?.contains(" blob ") == true else { return nil }
    _ = try git.run(
      ["checkout-index", "--force", "--quiet", "--prefix=\(copies.path)/", "--", relative],
      revision, failure: "'\(relative)' cannot be checked out")
    let file = place(of: relative)
    do {
      // A link would lead to a file of the working tree.
      let type = try FileManager.default.attributesOfItem(atPath: file.path)[.type]
      return type as? FileAttributeType == .typeRegular ? file : nil
    } catch {
      throw SuiteError.noRevision(revision, cause: error.systemText)
    }
  }

  /// Copies all files of the revision, except the files in some folders of the project.
  ///
  /// - Returns: The project's folder among the copies.
  /// - Throws: As `contents(of:)`.
  func copyAll(except folders: [String]) throws -> URL {
    // A separate index: single files, which have another index, may be below these folders.
    let git = git("index-of-all")
    _ = try git.run(["read-tree", commit], revision, failure: "its tree cannot be read")
    _ = try git.run(
      ["rm", "-r", "--quiet", "--force", "--cached", "--ignore-unmatch", "--"] + folders,
      revision, failure: "its tree cannot be read")
    // In a folder of the repository git would copy that folder alone; a program may read others.
    let top = try git.run(["rev-parse", "--show-toplevel"], revision, failure: "git failed")
    _ = try self.git("index-of-all", in: top).run(
      ["checkout-index", "--all", "--force", "--quiet", "--prefix=\(copies.path)/"], revision,
      failure: "it cannot be checked out")
    let folder = place(of: ".")
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw SuiteError.noRevision(revision, cause: error.systemText)
    }
    return folder
  }

  /// Where the copy of a file is, whether it exists or not.
  ///
  /// - Parameter relative: Relative to the project.
  func place(of relative: String) -> URL {
    // Without `..`: the folder that it leads out of may not exist among the copies.
    copies.appending(path: prefix + relative).standardizedFileURL
  }

  /// The path of a file relative to the project; `nil` if it is in no revision.
  func relative(_ path: String) -> String? {
    let inside = project + "/"
    let relative = path.hasPrefix(inside) ? String(path.dropFirst(inside.count)) : path
    guard !relative.hasPrefix("/"), !relative.isEmpty, !leavesRepository(relative) else {
      return nil
    }
    return relative
  }

  /// The folder of all copies.
  var copies: URL { scratch.appending(path: "tree", directoryHint: .isDirectory) }

  private func git(_ index: String, in folder: String? = nil) -> Git {
    Git(folder: folder ?? project, index: scratch.appending(path: index).path, isInterrupted)
  }

  /// Whether a path relative to the project leads out of the repository. It is in no revision then,
  /// and git would call it an error.
  private func leavesRepository(_ relative: String) -> Bool {
    var depth = 0
    for part in (prefix + relative).split(separator: "/") where part != "." {
      depth += part == ".." ? -1 : 1
      if depth < 0 { return true }
    }
    return false
  }
}
