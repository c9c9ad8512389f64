import Foundation
public import Retake
import XCTest

/// Replays the cases of a project and asserts that their results equal the goldens, as
/// `retake test` does in this process.
///
/// Each case that differs is a failure: the first frame and stage that differ, and the commands to
/// type next. The speed is printed.
///
/// ```swift
/// func testYard() { XCTAssertReplay("yard", report: ".build/replays") }
/// ```
///
/// - Parameters:
///   - sessions: `SESSION`, `SESSION/CASE`, folders, or globs; empty for all cases of the suite.
///   - suite: The suite of retake.yml; `default` if `nil`. An empty selection is a failure.
///   - project: The folder with retake.yml. A relative path begins at the nearest folder above the
///     test's file where there is one.
///   - report: The folder for report.html, junit.xml, summary.md and report.json; a path from the
///     project's folder. If `nil`, no report is written.
///   - program: The command that messages show instead of `retake`; with custom stages, your
///     program.
///   - stages: Registers custom stages, which the project's pipelines can name.
///   - pipelines: Pipelines in Swift, which retake.yml names `example:NAME`.
///   - file: The file of the test, above which the project is looked for, and of its failures.
///   - line: The line of its failures.
public func XCTAssertReplay(
  _ sessions: String..., suite: String? = nil, project: String = ".", report: String? = nil,
  program: String = "retake", stages: (inout StageRegistry) -> Void = { _ in },
  pipelines: [Pipeline] = [], file: StaticString = #filePath, line: UInt = #line
) {
  var registry = StageRegistry.builtIn
  stages(&registry)
  do {
    let hosted = try HostedProject(
      HostedProject.folder(named: project, near: "\(file)"), program: program, stages: registry,
      pipelines: pipelines)
    let cases = try hosted.project.hostedCases(sessions, suite: suite)
    let outcome = try hosted.run(
      cases.compactMap(\.selected), jobs: ProcessInfo.processInfo.activeProcessorCount,
      report: report)
    let stale = cases.filter { $0.selected == nil }.map { hosted.staleText($0.key) }
    for text in outcome.failing.map({ hosted.attention(to: $0, in: outcome.document) })
      + stale
    {
      XCTFail(text, file: file, line: line)
    }
    let notes = outcome.document.notes.map { "note: \($0)" }
    for text in [TerminalReport.summary(of: outcome.document)] + outcome.warnings + notes {
      print("retake: \(text)")
    }
  } catch {
    XCTFail("\(error)", file: file, line: line)
  }
}
