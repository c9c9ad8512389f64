import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeReport
import RetakeRuntime
import RetakeSession

/// Compares two folders with golden files. Implements `retake diff`.
package struct RunDifference {
  private let golden: GoldenFolder
  private let actual: GoldenFolder
  /// Names that distinguish the two folders, which may have the same last component.
  private let names: (golden: String, actual: String)
  /// Searched for the session whose frames the report shows; if `nil`, the report shows no frames.
  package var project: Project?
  /// Where the report is written; no report is written if `nil`.
  package var reportFolder: String?
  /// The program name in the commands of the report.
  package var program = Tool.name

  package init(golden: String, actual: String) {
    self.golden = GoldenFolder(URL(fileURLWithPath: golden))
    self.actual = GoldenFolder(URL(fileURLWithPath: actual))
    names = Self.distinctEnds(
      self.golden.url.standardizedFileURL.path, self.actual.url.standardizedFileURL.path)
  }

  /// - Throws: `SuiteError.noGolden` for a folder that has no golden files; `GoldenError`.
  package func run() throws -> SuiteRun.Outcome {
    if let reportFolder, let project {
      try project.requireOwn(reportFolder)
      try ReportFolder.check(URL(fileURLWithPath: project.path(reportFolder)))
    }
    for folder in [golden, actual] where !folder.exists {
      throw SuiteError.noGolden(path: folder.url.path)
    }
    var options = GoldenComparator.Options.withImages
    // A person has named the two folders, so they are compared whatever they are about.
    options.ignoresKeys = true
    let (base, manifest) = (try golden.manifest(), try actual.manifest())
    options.pairing = Self.pairing(base.input, manifest.input)
    let comparison =
      if let problem = BoxOrder.problem(golden: base, run: manifest) {
        Comparison(key: manifest.key, verdict: .notComparable, reasons: [problem])
      } else {
        try GoldenComparator(golden: golden, actual: actual, options: options).compare()
      }
    var definition = CaseDefinition(
      name: manifest.testCase.name, pipeline: manifest.testCase.pipeline)
    definition.mode = .init(rawValue: manifest.testCase.mode) ?? .everyFrame
    var result = CaseResult(
      selected: SelectedCase(definition: definition, session: manifest.input.session),
      comparison: comparison, golden: golden, actual: actual)
    addSources(to: &result, manifest)
    var builder = ReportBuilder(
      project: project ?? Project(folder: golden.url.path), goldens: nil, program: program)
    var item = builder.makeCase(result)
    // A run cannot be accepted: only a pending golden of a test can.
    item.commands = []
    for index in item.rootCauses.indices { item.rootCauses[index].commands = [] }
    let status = comparison.verdict.exitStatus(isCI: true)
    return try report(item, status)
  }

  private func report(_ item: ReportCase, _ status: ExitStatus) throws -> SuiteRun.Outcome {
    var document = ReportDocument(
      tool: ReportTool(version: Tool.version), title: "retake diff",
      exit: ReportExit(code: Int(status.rawValue)), cases: [item])
    document.generatedAt = WallClock().timeText
    document.notes = ["Golden stands for \(names.golden), actual for \(names.actual)."]
    document.nameCommands(ProgramName(program))
    var outcome = SuiteRun.Outcome(status: status, document: document)
    outcome.writeReport(to: reportFolder.map { project?.path($0) ?? $0 })
    return outcome
  }

  /// The shortest ends of two paths that are not the same.
  private static func distinctEnds(_ one: String, _ other: String) -> (String, String) {
    let (left, right) = (one.split(separator: "/"), other.split(separator: "/"))
    let common = zip(left.reversed(), right.reversed()).prefix { $0 == $1 }.count
    func end(_ path: [Substring]) -> String {
      // The end that is the whole path keeps its first slash: `tmp/run` would be another folder.
      let start = path.count <= common + 1 ? "/" : ""
      return start + path.suffix(common + 1).joined(separator: "/")
    }
    return (end(left), end(right))
  }

  /// Adds the parts of the page other than the numbers: the pipeline of each run, and the session's
  /// frames, if the project still has that session. Without them the page has neither graph nor
  /// images.
  private func addSources(to result: inout CaseResult, _ manifest: GoldenManifest) {
    guard let project, reportFolder != nil else { return }
    result.pipeline = try? pipeline(of: actual, in: project)
    result.basePipeline = try? pipeline(of: golden, in: project)
    result.classNames = (try? actual.chunk(0))?.header.classes.flatMap(\.self) ?? []
    guard let path = try? project.sessionPath(manifest.input.session),
      let reader = try? SessionReader(opening: path),
      // A session of the same name that was recorded again has other frames.
      (try? reader.inputDigest(tracks: manifest.input.tracks.values.sorted()))
        == manifest.input.digest
    else { return }
    result.sessionPath = path
    result.sourceTracks = manifest.input.tracks
    result.tracks = reader.tracks.filter { manifest.input.tracks.values.contains($0.track) }
  }

  /// A document of a run starts no program: it is only drawn.
  private func pipeline(of folder: GoldenFolder, in project: Project) throws -> Pipeline {
    let data = try RegularFile.contents(
      folder.file(GoldenFolder.pipelineName).path, bytesMax: Int64(PipelineDocument.bytesMax))
    return try PipelineDocument.parseStored(
      data, catalog: project.registry.allowing(.never), file: folder.url.lastPathComponent)
  }

  /// Two sessions number their frames independently, so frames of different sessions are paired by
  /// time.
  private static func pairing(
    _ golden: GoldenManifest.Input, _ actual: GoldenManifest.Input
  ) -> Pairing {
    golden.digest != actual.digest && golden.timeBase == actual.timeBase
      ? .presentationTime : .sequence
  }
}
