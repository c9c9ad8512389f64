import RetakeGolden
import RetakeReport

/// A case of a report, and the facts of its run that are summed up over all cases.
struct CaseRecord: Codable {
  /// Before the name of the program is put into its commands.
  var item: ReportCase
  var status: ExitStatus
  var platform: String
  /// The libraries of the golden and of the run, by name.
  var goldenLibraries: [String: String]
  var libraries: [String: String]
  /// The frames that were replayed.
  var frames: Int
  var cache: ReportCache?
  /// Why a differing result could not be left pending next to its golden.
  var pendingRefusal: String?

  init(_ result: CaseResult, _ item: ReportCase, isCI: Bool) {
    self.item = item
    status = result.exitStatus(isCI: isCI)
    platform = result.platform.description
    goldenLibraries = result.golden.environment(platform)
    libraries = result.actual.environment(platform)
    frames = result.summary?.frames.captured ?? 0
    cache = result.summary?.cache.map { ReportCache($0) }
    // A case that did not run has no result that could be pending.
    if result.summary != nil, result.comparison.verdict != .passed {
      pendingRefusal = result.pendingRefusal
    }
  }
}
