import Foundation
package import RetakeCompare
import RetakeCore
package import RetakeGolden
package import RetakeGraph
import RetakeReport
import RetakeSession
import RetakeStages

/// A folder with its retake.yml: where sessions and goldens are stored, and which cases are run.
///
/// A folder without the file has no cases, and everything has its default.
package struct Project: Sendable {
  package static let fileName = "retake.yml"

  /// Absolute.
  package var folder: String
  /// Whether there is a retake.yml.
  package var hasFile = false
  package var cases: [CaseDefinition] = [] {
    didSet {
      casePlaces = Dictionary(cases.enumerated().map { ($1.name, $0) }) { first, _ in first }
    }
  }
  /// The places of the cases, by name: a project may have thousands of cases.
  private var casePlaces: [String: Int] = [:]
  package var suites: [String: [SuiteEntry]] = [:]
  package var compare = CompareRules()
  /// Limits on the numbers of each run.
  package var budgets = GoldenManifest.Budgets()
  /// A lower rate causes a warning, never a verdict.
  package var minimumFramesPerSecond: Double?
  /// The stages that pipelines can use. The program that reads the project knows them.
  package var registry = StageRegistry.core
  /// Which programs the project's pipelines may start.
  package var programs = ProgramPermission.named([])
  /// Receives the lines that these programs write and log.
  package var programListener: ProgramListener?
  /// The time that these programs have for an answer.
  package var programLimits = ProgramLimits.declared
  /// The stores of sessions, and the local cache of their sessions.
  package var store = StoreSettings()
  /// Where the files are that documents and retake.yml name.
  package var places: InputPlaces
  /// Pipelines that the program defines itself.
  package var pipelines: [Pipeline] = []

  package init(folder: String) {
    self.folder = URL(fileURLWithPath: folder).standardizedFileURL.path
    places = .inside(self.folder)
  }

  /// The stages that the project's documents can use: `registry`, with the permission to start
  /// programs.
  package var catalog: StageRegistry {
    registry.allowing(
      programs, limits: programLimits, listener: programListener, places: places
    ).reading(places)
  }

  package var recordings: String { folder + "/Recordings" }
  package var goldens: String { folder + "/Goldens" }
  package var labels: String { folder + "/Labels" }
  package var labelFolder: LabelFolder { LabelFolder(root: URL(fileURLWithPath: labels)) }
  /// Where runs keep values for later runs, by default.
  package var cache: String { folder + "/.retake/cache" }

  /// The absolute path of a path that is relative to the project's folder.
  package func path(_ relative: String) -> String {
    relative.hasPrefix("/") ? relative : folder + "/" + relative
  }

  /// The absolute path of timings or a profile that a case names.
  func costPath(_ name: String) throws -> String { path(try places.costs(name)) }

  /// Rejects a folder for outputs that is not really in the project because its path has a symbolic
  /// link that leads out of it, and a folder in a session.
  ///
  /// - Throws: `SuiteError.notWritable`, `.outputOverInput`.
  package func requireOwn(_ relative: String) throws {
    try requireOutside(relative)
    guard let link = OwnFolder.linkOut(of: folder, to: path(relative)) else { return }
    throw SuiteError.notWritable(
      path: link, cause: "it is a symbolic link that leads out of the project")
  }

  /// Rejects a folder for outputs in a session: only commands that change sessions write there.
  ///
  /// - Throws: `SuiteError.outputOverInput`.
  func requireOutside(_ relative: String) throws {
    guard let session = SessionFolder.enclosing(path(relative)) else { return }
    throw SuiteError.outputOverInput(path: relative, input: "the session \(session.name)")
  }

  /// If this folder has no retake.yml: the nearest folder above it that has one. The search ends at
  /// the root of a repository: a file above the root belongs to something else.
  ///
  /// Paths of pipelines, models and programs are relative to the folder in which a command runs, so
  /// a command in a subfolder never uses the project; messages name the project's folder instead.
  package var enclosing: String? {
    guard !hasFile else { return nil }
    func has(_ name: String, _ folder: URL) -> Bool {
      FileManager.default.fileExists(atPath: folder.appending(path: name).path)
    }
    var url = URL(fileURLWithPath: folder).standardizedFileURL
    // Ends at the root folder, because each round goes to the folder above.
    while url.path != "/", !has(".git", url) {
      url.deleteLastPathComponent()
      if has(Self.fileName, url) { return url.path }
    }
    return nil
  }

  /// The top folder of the project's git repository, without links; `nil` without a repository.
  var repository: String? {
    var root = URL(fileURLWithPath: OwnFolder.realPath(folder) ?? folder)
    // Ends at the root folder, because each round goes to the folder above.
    while !RegularFile.isTaken(root.appending(path: ".git").path) {
      guard root.path != "/" else { return nil }
      root.deleteLastPathComponent()
    }
    return root.path
  }

  /// The project's folder in its git repository, such as `vision`; empty for the repository's own
  /// folder, and without a repository.
  var placeInRepository: String {
    guard let repository else { return "" }
    let own = URL(fileURLWithPath: OwnFolder.realPath(folder) ?? folder)
    let root = URL(fileURLWithPath: repository)
    return own.pathComponents.dropFirst(root.pathComponents.count).joined(separator: "/")
  }

  /// Advice for a command that needs a project and runs in a subfolder of one; `nil` in any other
  /// folder.
  package var wayToProject: String? {
    enclosing.map {
      "The \(Self.fileName) of this project is in another folder, where commands run: "
        + "cd \($0.shellWord)"
    }
  }

  /// A warning about a rate below the project's; `nil` if it is fast enough.
  package func slowness(_ framesPerSecond: Double?) -> String? {
    guard let minimum = minimumFramesPerSecond, let framesPerSecond, framesPerSecond < minimum
    else { return nil }
    return "\(Wording.speed(framesPerSecond)), \(Wording.speed(minimum - framesPerSecond)) below "
      + "the minimumFramesPerSecond of retake.yml, \(Wording.speed(minimum)). "
      + "A slow run is a warning, never a failure"
  }

  package func definition(named name: String) -> CaseDefinition? {
    casePlaces[name].map { cases[$0] }
  }

  /// A pipeline by the name of a case, `example:NAME`, `program:COMMAND`, or a file.
  ///
  /// - Throws: `SuiteError.noPipeline`, `.badProject` for cases that refer to each other,
  ///   `suite.select.unreadable`, `PipelineError`.
  package func pipeline(_ name: String) throws -> Pipeline {
    let name = try pipelineName(name)
    if name.hasPrefix(ProgramPipeline.prefix) {
      return try ProgramPipeline(name: name).pipeline(catalog)
    }
    if name.hasPrefix("example:") {
      return try example(String(name.dropFirst("example:".count)))
    }
    let file = path(name)
    // A single byte beyond the limit is enough for the parser to reject the file as too large.
    let count = PipelineDocument.bytesMax + 1
    let data: Data
    do {
      data = try RegularFile.head(file, links: .followed, count: count)
    } catch RegularFile.Refusal.missing {
      throw SuiteError.noPipeline(name, known: known(beside: name))
    } catch {
      throw SuiteError(
        "suite.select.unreadable", "the pipeline '\(name)' cannot be read", cause: error.causeText,
        advice: "Name a JSON file that you may read, a case of retake.yml, or example:NAME")
    }
    return try PipelineDocument.parse(data, catalog: catalog, file: name)
  }

  /// The file that a pipeline is read from, if it is read from one.
  package func pipelineFile(of name: String) -> String? {
    (try? pipelineName(name)).flatMap { $0.hasPrefix(ProgramPipeline.prefix) ? nil : path($0) }
  }

  /// Resolves a name: the pipeline of the case with that name, else the name itself.
  ///
  /// - Throws: `SuiteError.badProject` for cases that refer to each other.
  func pipelineName(_ name: String) throws -> String {
    var name = name
    var seen: Set<String> = []
    // Ends: no case is visited twice.
    while let definition = definition(named: name), definition.pipeline != name {
      guard seen.insert(name).inserted else {
        throw SuiteError.badProject(
          message: "the case '\(name)' is its own pipeline by way of others",
          advice: "Name a file or example:NAME in one of them",
          pointer: "/cases/\(name.pointerEscaped)/pipeline", file: Self.fileName)
      }
      name = definition.pipeline
    }
    return name
  }

  /// Suggestions for the name of a file that does not exist: files in the same folder and in
  /// `Pipelines`, cases with another pipeline, and the examples.
  private func known(beside name: String) -> [String] {
    let folder = name.split(separator: "/").dropLast().joined(separator: "/")
    let prefix = folder.isEmpty ? "" : (name.hasPrefix("/") ? "/" : "") + folder + "/"
    // Where `retake init` writes them. A file of this very name there is meant, not a similar one.
    let others = prefix == "Pipelines/" ? [] : documents(in: "Pipelines/")
    if let meant = others.first(where: { $0 == "Pipelines/" + name }) { return [meant] }
    return documents(in: prefix) + others
      + cases.filter { $0.pipeline != name }.map(\.name)
      + exampleNames.map { "example:\($0)" }
  }

  /// The JSON files of a folder that are pipelines.
  private func documents(in prefix: String) -> [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: path(prefix))) ?? []
    // At most 200 files are read for one message.
    return files.filter { $0.hasSuffix(".json") }.sorted().prefix(200).map { prefix + $0 }
      .filter { looksLikePipeline($0) }
  }

  /// Whether a file is a JSON object with nodes. Reports, sidecars, timings and profiles are JSON
  /// as well, and a suggestion of one would lead to the next error.
  private func looksLikePipeline(_ name: String) -> Bool {
    guard
      let data = try? RegularFile.contents(
        path(name), bytesMax: Int64(PipelineDocument.bytesMax)),
      case .object(let members)? = try? JSONValue(parsing: data)
    else { return false }
    return members["nodes"] != nil
  }

  private func example(_ name: String) throws -> Pipeline {
    // First, so that a program may use a name that an example of Retake has as well.
    if let own = pipelines.first(where: { $0.name == name }) { return own }
    guard let example = ExamplePipelines.named(name) else {
      throw SuiteError.noPipeline(
        "example:\(name)", known: exampleNames.map { "example:\($0)" })
    }
    return try PipelineDocument.parse(
      Data(example.document.utf8), catalog: catalog, file: "example:\(name)")
  }

  private var exampleNames: [String] {
    (pipelines.map(\.name) + ExamplePipelines.all.map(\.name)).sorted()
  }
}
