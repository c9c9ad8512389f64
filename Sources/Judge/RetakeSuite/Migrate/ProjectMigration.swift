import Foundation
import RetakeCore
import RetakeGolden
import RetakeGraph

/// Rewrites the documents of a project that have words from before they were renamed. Implements
/// `retake migrate`.
///
/// Only the words change: comments, spaces and the order of keys stay. Results, decisions and
/// digests have stored words and are not touched.
package struct ProjectMigration {
  /// A word of a document, with its replacement.
  package struct Change: Hashable, Sendable, Codable {
    /// Relative to the folder.
    package var file: String
    package var line: Int
    package var old: String
    package var new: String
  }

  package struct Result: Hashable, Sendable, Codable {
    package var changes: [Change] = []
    /// Lines of code and scripts with an old word, which a person has to change.
    package var hints: [Change] = []
    /// Hints beyond `ProjectMigration.hintsMax`.
    package var furtherHints = 0
    /// Folders inside this one that are separate projects, which stay as they are.
    package var otherProjects: [String] = []
    /// Files named `….json` that are not JSON, and files larger than a pipeline may be: their words
    /// were not searched.
    package var unsearched: [String] = []
  }

  package static let hintsMax = 100

  /// The files and folders of CI systems, whose names begin with a dot.
  private static let hiddenOfCI: Set = [
    ".buildkite", ".circleci", ".cirrus.yml", ".drone.yml", ".forgejo", ".gitea", ".github",
    ".gitlab", ".gitlab-ci.yml", ".semaphore", ".travis.yml", ".woodpecker", ".woodpecker.yaml",
    ".woodpecker.yml",
  ]

  private let folder: URL
  /// The most files and folders of a project.
  private let entriesMax: Int

  /// - Throws: `SuiteError` if the folder does not exist.
  package init(folder: String, entriesMax: Int = 200_000) throws {
    self.folder = URL(fileURLWithPath: folder).standardizedFileURL
    self.entriesMax = entriesMax
    guard Self.isFolder(self.folder) else {
      throw SuiteError(
        "suite.migrate.noFolder", "there is no such folder", at: folder,
        advice: "Name the folder of a project: retake migrate FOLDER")
    }
  }

  /// - Parameter isCheck: Whether all files stay as they are.
  /// - Throws: `SuiteError.badProject`, `GoldenError.manifest` for YAML that cannot be read;
  ///   `SuiteError.notReadable` for a file or folder that cannot be opened, `.tooManyFiles`. Then
  ///   nothing is written.
  package func run(isCheck: Bool) throws -> Result {
    var result = Result()
    var written: [(URL, Data)] = []
    for file in try files(&result) {
      if let renamed = try renamed(file, &result) { written.append((file, renamed)) }
    }
    if !isCheck {
      for (file, data) in written {
        do {
          try data.write(to: file, options: .atomic)
        } catch {
          throw SuiteError.notWritable(path: file.path, cause: error.systemText)
        }
      }
    }
    return result
  }

  private static func isFolder(_ url: URL) -> Bool {
    (try? url.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory ?? false
  }

  private func name(of file: URL) -> String {
    let prefix = folder.path.hasSuffix("/") ? folder.path : folder.path + "/"
    return file.path.hasPrefix(prefix) ? String(file.path.dropFirst(prefix.count)) : file.path
  }

  /// The files of the project in the order of their names, without sessions, other projects, and
  /// hidden files and folders that are not of CI systems.
  private func files(_ result: inout Result) throws -> [URL] {
    var found: [URL] = []
    var waiting = [folder]
    var entries = 0
    while let next = waiting.popLast() {
      let names = try names(in: next)
      // Media and rows of a session are not documents.
      if names.contains("session.sqlite") { continue }
      if next != folder, names.contains(Project.fileName) {
        result.otherProjects.append(name(of: next))
        continue
      }
      for name in names.sorted() where !name.hasPrefix(".") || Self.hiddenOfCI.contains(name) {
        entries += 1
        guard entries <= entriesMax else {
          throw SuiteError.tooManyFiles(path: folder.path, most: entriesMax)
        }
        let url = next.appending(path: name)
        let values = try? url.resourceValues(forKeys: [.isDirectoryKey, .isSymbolicLinkKey])
        guard values?.isSymbolicLink != true else { continue }
        if values?.isDirectory == true { waiting.append(url) } else { found.append(url) }
      }
    }
    result.otherProjects.sort()
    return found.sorted { $0.path < $1.path }
  }

  private func names(in folder: URL) throws -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder.path)
    } catch {
      throw SuiteError.notReadable(path: folder.path, cause: error.systemText)
    }
  }

  /// The bytes of a file; `nil` for JSON and code that are larger than a pipeline may be.
  private func contents(_ file: URL, _ result: inout Result) throws -> Data? {
    do {
      return try RegularFile.contents(file.path, bytesMax: Int64(PipelineDocument.bytesMax))
    } catch RegularFile.Refusal.special {
      return nil
    } catch RegularFile.Refusal.tooLarge where !file.lastPathComponent.contains(".yml") {
      result.unsearched.append(name(of: file))
      return nil
    } catch {
      throw SuiteError.notReadable(path: file.path, cause: error.systemText)
    }
  }

  /// The new content of a file; `nil` if it stays as it is.
  private func renamed(_ file: URL, _ result: inout Result) throws -> Data? {
    let name = file.lastPathComponent
    let isDocument = ["json", "new", "yml"].contains(file.pathExtension)
    guard isDocument || FormerCode.isCode(name), let data = try contents(file, &result) else {
      return nil
    }
    let words: [DocumentWords.Renaming]
    switch name {
    case Project.fileName: words = try project(data)
    case "golden.yml", "golden.yml.new": words = try golden(data, file)
    case _ where name.hasSuffix(".json") || name.hasSuffix(".json.new"):
      guard let found = DocumentWords.inPipeline(data) else {
        result.unsearched.append(self.name(of: file))
        return nil
      }
      words = found
    default:
      let lines = FormerCode.hints(in: data).map {
        Change(file: self.name(of: file), line: $0.line, old: $0.old, new: $0.new)
      }
      let most = max(0, Self.hintsMax - result.hints.count)
      result.hints += lines.prefix(most)
      result.furtherHints += max(0, lines.count - most)
      return nil
    }
    guard !words.isEmpty else { return nil }
    result.changes += words.map {
      Change(file: self.name(of: file), line: $0.place.line, old: $0.place.text, new: $0.new)
    }
    return DocumentWords.apply(words, to: data)
  }

  private func project(_ data: Data) throws -> [DocumentWords.Renaming] {
    do {
      return DocumentWords.inProject(
        try WordPlace.places(inYAML: String(decoding: data, as: UTF8.self)))
    } catch let error as DocumentProblem {
      throw SuiteError.project(error, file: Project.fileName)
    }
  }

  private func golden(_ data: Data, _ file: URL) throws -> [DocumentWords.Renaming] {
    do {
      return DocumentWords.inGolden(
        try WordPlace.places(inYAML: String(decoding: data, as: UTF8.self)))
    } catch let error as DocumentProblem {
      throw GoldenError(error).at(file.path)
    }
  }
}

extension SuiteError {
  package static func notReadable(path: String, cause: String) -> Self {
    Self(
      "suite.migrate.notReadable", "this cannot be read, so nothing was rewritten", cause: cause,
      at: path, advice: "Make it readable, or move it out of the project")
  }

  /// A folder with more files than a project has.
  package static func tooManyFiles(path: String, most: Int) -> Self {
    Self(
      "suite.migrate.tooManyFiles", "the folder has more than \(most) files", at: path,
      advice: "Name the project's own folder: retake migrate FOLDER")
  }
}
