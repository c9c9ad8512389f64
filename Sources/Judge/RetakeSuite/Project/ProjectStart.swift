import Foundation
import RetakeCore
import RetakeSession
import RetakeStages

/// Turns a folder into a project: writes a retake.yml with a case for each pipeline, the document
/// of an example, and lines for `.gitignore`.
package struct ProjectStart {
  /// The files and the cases of the new project.
  package struct Result: Hashable, Sendable, Codable {
    /// Relative to the project's folder, in the order in which they were written.
    package var written: [String]
    /// Files that would have been written but already exist; they are not changed.
    package var kept: [String] = []
    /// The name of the first case.
    package var caseName: String
    /// The pipeline of the first case.
    package var pipeline: String
    /// All cases, in the order of retake.yml.
    public var cases: [Case] = []
    /// Documents in Pipelines that have no case.
    public var leftOut: [String] = []
  }

  /// A case of the new project.
  public struct Case: Hashable, Sendable, Codable {
    /// Letters, digits and `-_.`; unique among the cases of the project.
    public var name: String
    /// A JSON file, relative to the project's folder, or `example:NAME`.
    public var pipeline: String
  }

  private var project: Project

  /// Lines of `.gitignore`: files that runs can create again at any time.
  static let ignored = ["*.new", ".retake/"]
  private static let defaultExample = "motion-boxes"

  package init(_ project: Project) { self.project = project }

  /// Writes the files. An existing file is not changed, except `.gitignore`, to which missing lines
  /// are added.
  ///
  /// - Parameter pipeline: A JSON file, or `example:NAME`, for the only case. If `nil`, there is a
  ///   case for each pipeline that the program defines, else one for the example `motion-boxes`.
  /// - Throws: `suite.project.exists` if there is a retake.yml, `SuiteError.notWritable`, and the
  ///   error of a pipeline that cannot be used. A failure leaves no retake.yml.
  package func write(pipeline name: String? = nil) throws -> Result {
    let file = project.path(Project.fileName)
    guard !project.hasFile else {
      throw SuiteError(
        "suite.project.exists", "this folder is a project already", at: file,
        advice: "Edit its cases and suites, then: retake test")
    }
    var result = Result(written: [], caseName: "", pipeline: "")
    for name in name.map({ [$0] }) ?? defaultNames {
      let made = try makeCase(ofPipeline: name, in: &result)
      result.cases.append(made)
    }
    result.caseName = result.cases[0].name
    result.pipeline = result.cases[0].pipeline
    let tested = result.cases.map { standardPath($0.pipeline) }
    result.leftOut = documents.filter { !tested.contains(standardPath($0)) }
    try addIgnored(Self.ignored, to: &result)
    // Last: after a failure the folder is not a project yet, and the command can be repeated.
    try add(Self.text(of: result), as: Project.fileName, to: &result)
    return result
  }

  /// Writes a package with a stage in Swift. A folder that is not a project becomes one, whose case is
  /// the package's pipeline.
  ///
  /// - Throws: as `write(pipeline:)`.
  package func writeSwift() throws -> Result {
    var start = self
    // Only its name is written; the program of the package defines the pipeline.
    start.project.pipelines = [SwiftStart.pipeline]
    var result =
      project.hasFile
      ? Result(written: [], kept: [Project.fileName], caseName: "", pipeline: "")
      : try start.write()
    for file in SwiftStart.files { try add(file.text, as: file.name, to: &result) }
    try addIgnored(SwiftStart.ignored, to: &result)
    return result
  }

  /// Never empty.
  private var defaultNames: [String] {
    let own = project.pipelines.map(\.name)
    return (own.isEmpty ? [Self.defaultExample] : own).map { "example:\($0)" }
  }

  private func makeCase(
    ofPipeline name: String, in result: inout Result
  ) throws -> Case {
    let pipeline = try project.pipeline(name)
    var made = Case(name: pipeline.name.folderName, pipeline: name)
    // Two pipelines can have the same folder name. Ends: there are more numbers than cases.
    var number = 2
    while result.cases.contains(where: { $0.name == made.name }) {
      made.name = "\(pipeline.name.folderName)-\(number)"
      number += 1
    }
    guard let document = builtInDocument(name) else { return made }
    made.pipeline = "Pipelines/\(pipeline.name).json"
    try add(document, as: made.pipeline, to: &result)
    // A file that already existed may contain anything, so it is parsed.
    if !result.kept.isEmpty { _ = try project.pipeline(made.pipeline) }
    return made
  }

  private func standardPath(_ path: String) -> String {
    URL(fileURLWithPath: project.path(path)).standardizedFileURL.path
  }

  /// The JSON documents in Pipelines, in the order of their names.
  private var documents: [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: project.path("Pipelines"))
    return (names ?? []).filter { $0.hasSuffix(".json") }.sorted().map { "Pipelines/\($0)" }
  }

  /// The document of one of Retake's own examples, unless the program defines a pipeline of that
  /// name.
  private func builtInDocument(_ name: String) -> String? {
    guard name.hasPrefix("example:") else { return nil }
    let name = String(name.dropFirst("example:".count))
    guard !project.pipelines.contains(where: { $0.name == name }) else { return nil }
    return ExamplePipelines.named(name)?.document
  }

  /// The suite selects all sessions, also future sessions: a list of the present sessions would
  /// silently leave out the next import, and the suite would depend on whether `init` or `import`
  /// came first.
  private static func text(of result: Result) -> String {
    // In the quotes of JSON, in which YAML reads any name as a string.
    let cases = result.cases.map { made in
      """
        \(made.name):
          pipeline: \(JSONValue.string(made.pipeline).canonicalText)
          mode: every-frame       # simulate: decide which frames are dropped, from declared costs
      """
    }
    let names = result.cases.map(\.name).joined(separator: ", ")
    return """
      # Which cases run on which sessions, and how results are compared.
      # Every key is described in docs/project.md of Retake.
      v: 1
      cases:
      \(cases.joined(separator: "\n"))
      suites:
        default:                  # what `retake test` runs
          - sessions: ["*"]       # all of Recordings; or names, or globs such as "yard-*"
            cases: [\(names)]
      # compare:                  # tolerances, by the name of a sink; without any, results must be equal
      #   boxes: {iou: 0.5, position: 0.5, score: 0.01}

      """
  }

  private func addIgnored(_ lines: [String], to result: inout Result) throws {
    let path = project.path(".gitignore")
    var text = ""
    do {
      text = String(
        decoding: try RegularFile.contents(path, bytesMax: Project.fileBytesMax), as: UTF8.self)
    } catch RegularFile.Refusal.missing {
      text = ""
    } catch {
      throw SuiteError.notWritable(path: path, cause: error.causeText)
    }
    let known = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    let missing = lines.filter { !known.contains($0) }
    guard !missing.isEmpty else { return }
    // Without its line end, the last line would be joined with the first added one.
    if !text.isEmpty, !text.hasSuffix("\n") { text += "\n" }
    text += missing.joined(separator: "\n") + "\n"
    try write(text, to: path, replacing: true)
    if !result.written.contains(".gitignore") { result.written.append(".gitignore") }
  }

  private func add(
    _ text: String, as name: String, to result: inout Result
  ) throws {
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
      throw SuiteError.notWritable(path: folder, cause: error.systemText)
    }
    try write(text, to: path, replacing: false)
    result.written.append(name)
  }

  /// Writes a file as a whole: an interruption or a full disk leaves the old file, or none.
  ///
  /// - Parameter replacing: Whether a file of that name is replaced. If not, it is an error when
  ///   another process has made the file since it was looked for.
  private func write(_ text: String, to path: String, replacing: Bool) throws {
    guard let file = PendingFile(for: path, ending: "") else {
      throw SuiteError.notWritable(path: path, cause: POSIXError.last.systemText)
    }
    do {
      try file.handle.write(contentsOf: Data(text.utf8))
      try file.finish(replacing: replacing)
    } catch {
      file.discard()
      throw SuiteError.notWritable(path: path, cause: error.systemText)
    }
  }
}
