import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeStages

/// A folder with its retake.yml: where sessions and goldens lie, and what is run.
///
/// Without the file there are no cases, and everything has its default.
public struct Project: Sendable {
  public static let fileName = "retake.yml"

  /// Absolute.
  public var folder: String
  /// Whether there is a retake.yml.
  public var hasFile = false
  public var cases: [CaseDefinition] = []
  public var suites: [String: [SuiteEntry]] = [:]
  public var compare = CompareRules()
  /// Limits on the numbers of each run.
  public var budgets = GoldenManifest.Budgets()
  /// Warns, never judges.
  public var minimumFramesPerSecond: Double?

  public init(folder: String) {
    self.folder = URL(fileURLWithPath: folder).standardizedFileURL.path
  }

  public var recordings: String { folder + "/Recordings" }
  public var goldens: String { folder + "/Goldens" }
  /// Where runs keep values for later runs, if nothing else is said.
  public var cache: String { folder + "/.retake/cache" }

  /// An absolute path for one that is relative to the project's folder.
  public func path(_ relative: String) -> String {
    relative.hasPrefix("/") ? relative : folder + "/" + relative
  }

  /// Refuses a folder in the project that is not: on the way to it is a link that leads out.
  ///
  /// - Throws: `SuiteError.notWritable`.
  func requireOwn(_ relative: String) throws(SuiteError) {
    guard let link = OwnFolder.linkOut(of: folder, to: path(relative)) else { return }
    throw .notWritable(path: link, cause: "it is a symbolic link that leads out of the project")
  }

  public func definition(named name: String) -> CaseDefinition? {
    cases.first { $0.name == name }
  }

  /// A pipeline by the name of a case, `example:NAME`, or a file.
  ///
  /// - Parameter given: Pipelines that the program brings itself, by name.
  /// - Throws: `SuiteError.noPipeline`, `badProject` for cases that name each other, `PipelineError`.
  public func pipeline(
    _ name: String, catalog: some StageCatalog, given: [Pipeline] = []
  ) throws -> Pipeline {
    let name = try pipelineName(name)
    if name.hasPrefix("example:") {
      return try example(String(name.dropFirst("example:".count)), catalog: catalog, given: given)
    }
    let file = path(name)
    // What is larger than a pipeline is refused for that by its parser.
    let count = PipelineDocument.bytesMax + 1
    guard let data = try? RegularFile.head(file, links: .followed, count: count) else {
      throw SuiteError.noPipeline(name, known: known(beside: name, given: given))
    }
    return try PipelineDocument.parse(data, catalog: catalog, file: name)
  }

  /// The file that a pipeline is read from, if it is one.
  package func pipelineFile(of name: String) -> String? {
    (try? pipelineName(name)).map { path($0) }
  }

  /// What a name stands for: the pipeline of the case of that name, else itself.
  ///
  /// - Throws: `SuiteError.badProject` for cases that name each other.
  func pipelineName(_ name: String) throws(SuiteError) -> String {
    var name = name
    var seen: Set<String> = []
    // Ends: each round takes a case that was not taken before.
    while let definition = definition(named: name), definition.pipeline != name {
      guard seen.insert(name).inserted else {
        throw .badProject(
          message: "the case '\(name)' is its own pipeline by way of others",
          advice: "Name a file or example:NAME in one of them",
          pointer: "/cases/\(name.pointerEscaped)/pipeline", file: Self.fileName)
      }
      name = definition.pipeline
    }
    return name
  }

  /// What could be meant by the name of a file that is not there: files beside it, the cases that
  /// stand for another, and the examples.
  private func known(beside name: String, given: [Pipeline]) -> [String] {
    let folder = name.split(separator: "/").dropLast().joined(separator: "/")
    let prefix = folder.isEmpty ? "" : (name.hasPrefix("/") ? "/" : "") + folder + "/"
    let files = (try? FileManager.default.contentsOfDirectory(atPath: path(prefix))) ?? []
    return files.filter { $0.hasSuffix(".json") }.sorted().map { prefix + $0 }
      + cases.filter { $0.pipeline != name }.map(\.name)
      + Self.exampleNames(given).map { "example:\($0)" }
  }

  private func example(
    _ name: String, catalog: some StageCatalog, given: [Pipeline]
  ) throws -> Pipeline {
    if let own = given.first(where: { $0.name == name }) { return own }
    guard let example = ExamplePipelines.named(name) else {
      throw SuiteError.noPipeline(
        "example:\(name)", known: Self.exampleNames(given).map { "example:\($0)" })
    }
    return try PipelineDocument.parse(
      Data(example.document.utf8), catalog: catalog, file: "example:\(name)")
  }

  private static func exampleNames(_ given: [Pipeline]) -> [String] {
    (given.map(\.name) + ExamplePipelines.all.map(\.name)).sorted()
  }
}
