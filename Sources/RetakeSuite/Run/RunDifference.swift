import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
package import RetakeReport

/// Compares two folders with golden files: what `retake diff` does.
package struct RunDifference {
  private let golden: GoldenFolder
  private let actual: GoldenFolder

  package init(golden: String, actual: String) {
    self.golden = GoldenFolder(URL(fileURLWithPath: golden))
    self.actual = GoldenFolder(URL(fileURLWithPath: actual))
  }

  /// - Throws: `SuiteError.noGolden` for a folder that has no golden files; `GoldenError`.
  package func run() throws -> (document: ReportDocument, status: ExitStatus) {
    for folder in [golden, actual] where !folder.exists {
      throw SuiteError.noGolden(path: folder.url.path)
    }
    var options = GoldenComparator.Options.withPictures
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
    definition.mode = .init(rawValue: manifest.testCase.mode) ?? .lossless
    let result = CaseResult(
      selected: SelectedCase(definition: definition, session: manifest.input.session),
      comparison: comparison, golden: golden, actual: actual)
    var builder = ReportBuilder(project: Project(folder: golden.url.path), goldens: nil)
    var item = builder.makeCase(result)
    // A run cannot be accepted: only what a test left pending can.
    item.commands = []
    for index in item.rootCauses.indices { item.rootCauses[index].commands = [] }
    let status = comparison.verdict.exitStatus(isCI: true)
    let document = ReportDocument(
      tool: ReportTool(version: Tool.version), title: "retake diff",
      exit: ReportExit(code: Int(status.rawValue)), cases: [item])
    return (document, status)
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
