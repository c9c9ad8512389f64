import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeReport
import RetakeRuntime

/// A project with one session and one case, for a bug report.
struct ReducedProject {
  let project: Project
  /// Its pipeline is the name in the new project.
  let definition: CaseDefinition
  let session: String
  /// Replaces the document of the case, if branches were left out.
  let pipeline: Pipeline?
  /// Files that the case reads; files outside of the project are not copied.
  let files: [String]

  /// The name of the case's pipeline in a new project: the document's path there, or the name of a
  /// pipeline that is no file.
  static func pipelineName(of definition: CaseDefinition, in project: Project) throws -> String {
    let name = try project.pipelineName(definition.pipeline)
    guard !isNamed(name) else { return name }
    let isInside = !name.hasPrefix("/") && !name.split(separator: "/").contains("..")
    return isInside ? name : "Pipelines/\(URL(fileURLWithPath: name).lastPathComponent)"
  }

  private static func isNamed(_ name: String) -> Bool {
    name.hasPrefix("example:") || name.hasPrefix(ProgramPipeline.prefix)
  }

  /// The document's path: of a pipeline that was no file, a new one.
  private var documentName: String? {
    guard let pipeline, Self.isNamed(definition.pipeline) else {
      return Self.isNamed(definition.pipeline) ? nil : definition.pipeline
    }
    return "Pipelines/\(pipeline.name.folderName).json"
  }

  /// Writes the folder. It gets its name when it is complete.
  ///
  /// - Parameters:
  ///   - original: The name of the document in `project`.
  ///   - recordings: A folder with the session; it is moved.
  ///   - check: Called with the complete folder before it has its name.
  func write(
    to target: URL, document original: String, recordings: URL, golden: GoldenFolder,
    reason: String, check: (URL) throws -> Void
  ) throws {
    do {
      let scratch = try ScratchFolder(in: target.deletingLastPathComponent())
      defer { scratch.remove() }
      let folder = scratch.file("project")
      try make(folder)
      try FileManager.default.moveItem(at: recordings, to: folder.appending(path: "Recordings"))
      try GoldenFolder(
        root: folder.appending(path: "Goldens"), session: session, testCase: definition.name
      ).accept(
        GoldenManifest.Acceptance(
          at: WallClock().dateText, reason: reason, rootCauses: [], frames: 0, maxError: 0),
        from: golden)
      try writeDocument(original, in: folder)
      for file in files { try copy(file, into: folder) }
      try put(text, folder.appending(path: Project.fileName))
      try check(folder)
      try FileManager.default.moveItem(at: folder, to: target)
    } catch let error as any CodedError {
      throw error
    } catch {
      throw SuiteError.notWritable(path: target.path, cause: error.systemText)
    }
  }

  private func make(_ folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func put(_ text: String, _ file: URL) throws {
    try make(file.deletingLastPathComponent())
    try Data(text.utf8).write(to: file)
  }

  private func writeDocument(_ original: String, in folder: URL) throws {
    guard let name = documentName else { return }
    let file = folder.appending(path: name)
    if let pipeline { return try put(PipelineRecord(pipeline).text, file) }
    let text = try RegularFile.contents(
      project.path(original), bytesMax: Int64(PipelineDocument.bytesMax))
    try put(String(decoding: text, as: UTF8.self), file)
  }

  /// A file elsewhere, such as an interpreter or a model with an absolute path, stays where it is.
  private func copy(_ name: String, into folder: URL) throws {
    let source = URL(fileURLWithPath: project.path(name))
    guard !name.hasPrefix("/"), !name.split(separator: "/").contains(".."),
      FileManager.default.fileExists(atPath: source.path)
    else { return }
    let place = folder.appending(path: name)
    try make(place.deletingLastPathComponent())
    try FileManager.default.copyItem(at: source.resolvingSymlinksInPath(), to: place)
  }

  // MARK: retake.yml

  /// JSON is YAML, and the reader of projects checks both.
  private var text: String {
    func line(_ value: JSONValue) -> String { value.canonicalText }
    let name = JSONValue.string(definition.name).canonicalText
    var lines = ["v: 1", "cases:", "  \(name): \(line(.object(caseMembers)))", "suites:"]
    let entry = JSONValue.object([
      "sessions": .array([.string(session)]), "cases": .array([.string(definition.name)]),
    ])
    lines.append("  default: [\(line(entry))]")
    let rules = project.compare.bySink.filter { isKnown($0.key) }
    if !rules.isEmpty {
      lines.append("compare:")
      for sink in rules.keys.sorted() {
        guard let rule = rules[sink], let json = try? JSONValue(encoding: rule) else { continue }
        lines.append("  \(line(.string(sink))): \(line(json))")
      }
    }
    if case .named(let names) = project.programs, !names.isEmpty {
      let all = JSONValue.array(names.map(JSONValue.string))
      lines.append("allow: \(line(.object(["processes": all])))")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func isKnown(_ sink: String) -> Bool {
    guard let pipeline else { return true }
    return SinkRule.Mode(rawValue: sink) != nil || pipeline.nodes.contains { $0.id == sink }
  }

  private var caseMembers: [String: JSONValue] {
    var members: [String: JSONValue] = [:]
    let name = documentName ?? definition.pipeline
    if let program = try? ProgramPipeline(name: name), name.hasPrefix(ProgramPipeline.prefix) {
      members["program"] = .object(program.options)
    } else {
      members["pipeline"] = .string(name)
    }
    if definition.mode == .simulate {
      members["mode"] = .string(definition.mode.rawValue)
      members["costs"] = .string(definition.costs.description)
      members["strictCosts"] = definition.strictCosts ? .bool(true) : nil
    }
    if definition.seed != 0 {
      members["seed"] = Int64(exactly: definition.seed).map { .integer($0) }
    }
    if !definition.tracks.isEmpty {
      members["tracks"] = .object(definition.tracks.mapValues { .integer(Int64($0)) })
    }
    if !definition.precision.isEmpty {
      members["precision"] = .object(
        definition.precision.mapValues { .object($0.mapValues { .number($0) }) })
    }
    if !definition.overrides.isEmpty {
      members["overrides"] = .array(definition.overrides.map { .string($0.text) })
    }
    return members
  }

  // MARK: the written project

  /// Tests the new project, as `retake test` does there.
  ///
  /// - Throws: `suite.reduce.notRepeated` if it does not show the root cause.
  func check(_ folder: URL, shows rootCause: String, options: RunOptions) throws {
    var written = try Project(reading: folder.path)
    (written.registry, written.pipelines) = (project.registry, project.pipelines)
    written.programs = project.programs
    (written.programListener, written.programLimits) = (
      project.programListener, project.programLimits
    )
    var run = SuiteRun(project: written, selection: Selection())
    run.options = options
    run.isCI = true
    let outcome = try run.run()
    let found = outcome.document.cases.flatMap { $0.rootCauses.map(\.id) }
    guard outcome.status == .regression, found.contains(rootCause) else {
      throw SuiteError(
        "suite.reduce.notRepeated", "the written project does not show '\(rootCause)'",
        cause: outcome.document.cases.first?.reason,
        advice: "The case reads something that is not in the session or next to retake.yml")
    }
  }

  /// The size of all files of a folder.
  static func bytes(of folder: URL) -> Int {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
    return names.reduce(0) { sum, name in
      var status = stat()
      guard stat(folder.appending(path: name).path, &status) == 0,
        status.st_mode & S_IFMT == S_IFREG
      else { return sum }
      return sum + Int(status.st_size)
    }
  }
}
