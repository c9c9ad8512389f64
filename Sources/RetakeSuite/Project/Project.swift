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

  public func definition(named name: String) -> CaseDefinition? {
    cases.first { $0.name == name }
  }

  /// A pipeline by the name of a case, `example:NAME`, or a file.
  ///
  /// - Parameter given: Pipelines that the program brings itself, by name.
  /// - Throws: `SuiteError.noPipeline`, `PipelineError`.
  public func pipeline(
    _ name: String, catalog: some StageCatalog, given: [Pipeline] = []
  ) throws -> Pipeline {
    if let definition = definition(named: name), definition.pipeline != name {
      return try pipeline(definition.pipeline, catalog: catalog, given: given)
    }
    if name.hasPrefix("example:") {
      return try example(String(name.dropFirst("example:".count)), catalog: catalog, given: given)
    }
    let file = path(name)
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder),
      !isFolder.boolValue, let data = FileManager.default.contents(atPath: file)
    else {
      throw SuiteError.noPipeline(
        name, known: cases.map(\.name) + Self.exampleNames(given).map { "example:\($0)" })
    }
    return try PipelineDocument.parse(data, catalog: catalog, file: name)
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
