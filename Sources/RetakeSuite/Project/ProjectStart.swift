import Foundation
import RetakeCore
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeStages

/// Turns a folder into a project: writes a retake.yml with one case, its pipeline, and lines for
/// `.gitignore`.
public struct ProjectStart {
  /// What was written.
  public struct Result: Hashable, Sendable, Codable {
    /// Relative to the project's folder, in the order in which they were written.
    public var written: [String]
    /// Files that would have been written but already exist; they are not changed.
    public var kept: [String] = []
    /// The name of the case.
    public var caseName: String
    public var pipeline: String
  }

  private let project: Project
  private let registry: StageRegistry
  private let pipelines: [Pipeline]

  /// Lines of `.gitignore`: files that runs can create again at any time.
  static let ignored = ["*.new", ".retake/"]
  private static let defaultExample = "motion-boxes"

  public init(_ project: Project, registry: StageRegistry, pipelines: [Pipeline] = []) {
    self.project = project
    self.registry = registry
    self.pipelines = pipelines
  }

  /// Writes the files. An existing file is not changed, except `.gitignore`, to which missing lines
  /// are added.
  ///
  /// - Parameter pipeline: A JSON file, or `example:NAME`. If `nil`, the first pipeline that the
  ///   program defines, else the example `motion-boxes`.
  /// - Throws: `SuiteError.hasProject` if there is a retake.yml, `notWritable`, and the error of a
  ///   pipeline that cannot be used. A failure leaves no retake.yml.
  public func write(pipeline name: String? = nil) throws -> Result {
    let file = project.path(Project.fileName)
    guard !project.hasFile else { throw SuiteError.hasProject(file: file) }
    let name =
      name ?? "example:" + (pipelines.first?.name ?? Self.defaultExample)
    let pipeline = try project.pipeline(name, catalog: registry, given: pipelines)
    var result = Result(written: [], caseName: pipeline.name.folderName, pipeline: name)
    if let document = builtInDocument(name) {
      result.pipeline = "Pipelines/\(pipeline.name).json"
      try add(document, as: result.pipeline, to: &result)
      // A file that already existed may contain anything, so it is parsed.
      if !result.kept.isEmpty { _ = try project.pipeline(result.pipeline, catalog: registry) }
    }
    try addIgnored(to: &result)
    let sessions = project.sessionNames
    // Last: after a failure the folder is not a project yet, and the command can be repeated.
    try add(
      Self.text(of: result, sessions: sessions.isEmpty ? ["*"] : sessions), as: Project.fileName,
      to: &result)
    return result
  }

  /// The document of one of Retake's own examples, unless the program defines a pipeline of that
  /// name.
  private func builtInDocument(_ name: String) -> String? {
    guard name.hasPrefix("example:") else { return nil }
    let name = String(name.dropFirst("example:".count))
    guard !pipelines.contains(where: { $0.name == name }) else { return nil }
    return ExamplePipelines.named(name)?.document
  }

  /// - Parameter sessions: The existing sessions, so that a later recording does not become part of
  ///   the suite by itself.
  private static func text(of result: Result, sessions: [String]) -> String {
    // In the quotes of JSON, in which YAML reads any name as a string.
    let list = sessions.map { JSONValue.string($0).canonicalText }.joined(separator: ", ")
    return """
      # Which cases run on which sessions, and how results are compared.
      # Every key is described in docs/project.md of Retake.
      v: 1
      cases:
        \(result.caseName):
          pipeline: \(JSONValue.string(result.pipeline).canonicalText)
          mode: lossless          # redecide: decide again which frames are dropped, from declared costs
      suites:
        default:                  # what `retake test` runs
          - sessions: [\(list)]  # names of folders in Recordings, or globs such as "yard-*"
            cases: [\(result.caseName)]
      # compare:                  # tolerances, by the name of a sink; without any, results must be equal
      #   boxes: {iou: 0.5, position: 0.5, score: 0.01}

      """
  }

  private func addIgnored(to result: inout Result) throws(SuiteError) {
    let path = project.path(".gitignore")
    var text = ""
    do throws(RegularFile.Refusal) {
      text = String(
        decoding: try RegularFile.contents(path, bytesMax: Project.fileBytesMax), as: UTF8.self)
    } catch .missing {
      text = ""
    } catch {
      throw .notWritable(path: path, cause: error.description)
    }
    let known = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    let missing = Self.ignored.filter { !known.contains($0) }
    guard !missing.isEmpty else { return }
    // Without its line end, the last line would be joined with the first added one.
    if !text.isEmpty, !text.hasSuffix("\n") { text += "\n" }
    text += missing.joined(separator: "\n") + "\n"
    // The file is the user's own, so an interruption must leave it whole.
    try write(text, to: path, options: .atomic)
    result.written.append(".gitignore")
  }

  private func add(
    _ text: String, as name: String, to result: inout Result
  ) throws(SuiteError) {
    try project.requireOwn(name)
    let path = project.path(name)
    guard !FileManager.default.fileExists(atPath: path) else {
      result.kept.append(name)
      return
    }
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw .notWritable(path: folder, cause: error.systemText)
    }
    // Fails if another process has made the file since it was looked for.
    try write(text, to: path, options: .withoutOverwriting)
    result.written.append(name)
  }

  private func write(
    _ text: String, to path: String, options: Data.WritingOptions
  ) throws(SuiteError) {
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: options)
    } catch {
      throw .notWritable(path: path, cause: error.systemText)
    }
  }
}
