import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeReport
import RetakeRewrite
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
    self.golden = Self.folder(golden)
    self.actual = Self.folder(actual)
    names = Self.distinctEnds(
      self.golden.url.standardizedFileURL.path, self.actual.url.standardizedFileURL.path)
  }

  /// A golden, or a run; a golden that is only pending, if there is no other.
  private static func folder(_ path: String) -> GoldenFolder {
    let folder = GoldenFolder(URL(fileURLWithPath: path))
    return folder.exists || !folder.pending.exists ? folder : folder.pending
  }

  /// - Throws: `SuiteError.noGolden` for a folder that has no golden files; `SuiteError.halted` for
  ///   a halted run whose frames are equal as far as it went; `SuiteError.damagedRun`;
  ///   `GoldenError`.
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
    options.pairing = pairing(base.input, manifest.input)
    var result = CaseResult(golden: golden, actual: actual, manifest)
    if let project { result.addSources(manifest, project) }
    if let problem = BoxOrder.problem(golden: base, run: manifest) {
      result.comparison = Comparison(
        key: manifest.key, verdict: .notComparable, reasons: [problem])
    } else {
      let labels = try project.flatMap { try CaseLabels($0, result) }
      result.comparison = try GoldenComparator(
        golden: golden, actual: actual, options: options, labels: labels?.compare
      ).compare()
    }
    // Runs that are halted at the same frame are equal up to it.
    if result.comparison.verdict == .passed {
      try checkEnd(of: golden, names.golden)
      try checkEnd(of: actual, names.actual)
    }
    var builder = ReportBuilder(
      project: project ?? Project(folder: golden.url.path), goldens: nil, program: program)
    var item = builder.makeCase(result)
    // A run cannot be accepted: only a pending golden of a test can.
    item.commands = []
    for index in item.rootCauses.indices { item.rootCauses[index].commands = [] }
    let status = result.comparison.verdict.exitStatus(isCI: true)
    return try report(item, status)
  }

  private func checkEnd(of folder: GoldenFolder, _ name: String) throws {
    struct Run: Decodable {
      var halt: StageFailure?
    }
    let file = folder.url.appending(path: "run.json")
    // A golden has no such file: a halted run does not become a golden.
    guard FileManager.default.fileExists(atPath: file.path) else { return }
    let run: Run
    do {
      run = try JSONDecoder().decode(Run.self, from: Data(contentsOf: file))
    } catch {
      throw SuiteError.damagedRun(path: file.path, cause: "\(error)")
    }
    if let halt = run.halt { throw SuiteError.halted(halt, of: "the run \(name)") }
  }

  private func report(_ item: ReportCase, _ status: ExitStatus) throws -> SuiteRun.Outcome {
    var document = ReportDocument(
      tool: ReportTool(version: Tool.version), title: "retake diff",
      exit: ReportExit(code: Int(status.rawValue)), cases: [item])
    document.generatedAt = WallClock().timeText
    document.notes = ["Golden stands for \(names.golden), actual for \(names.actual)."]
    document.nameCommands(ProgramName(program))
    var outcome = SuiteRun.Outcome(status: status, document: document)
    outcome.writeReport(to: reportFolder, of: project)
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

  /// Two sessions number their frames independently, so frames of different sessions are paired by
  /// time. A redacted copy has the numbers of its original, and other times.
  private func pairing(
    _ golden: GoldenManifest.Input, _ actual: GoldenManifest.Input
  ) -> Pairing {
    golden.digest != actual.digest && golden.timeBase == actual.timeBase
      && ![golden, actual].contains(where: { isRedacted($0.session) })
      ? .presentationTime : .sequence
  }

  private func isRedacted(_ session: String) -> Bool {
    let path = try? project?.sessionPlace(session)
    return path.map(SessionRedaction.hasMade) ?? false
  }
}
