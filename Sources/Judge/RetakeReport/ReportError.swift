package import RetakeCore

/// Errors of reports themselves.
package enum ReportError: RetakeError, Hashable {
  case unreadable(reason: String)
  case newerVersion(Int)
  /// Written by another build, with other keys.
  case otherBuild(tool: String, reason: String)
  case notWritten(file: String, reason: String)
  /// The folder has a file of that name which is no part of a report.
  case otherFile(String)
  case drawingTooLarge(nodes: Int, nodesMax: Int)

  package var facts: ErrorFacts {
    switch self {
    case .unreadable(let reason):
      ErrorFacts(
        "report.document.unreadable", "this is not a report document", cause: reason,
        advice: "Make the report again with retake test")
    case .newerVersion(let version):
      ErrorFacts(
        "report.document.newerVersion",
        "the report has version \(version), and this retake reads version 1",
        advice: "Update retake, or make the report again with this one")
    case .otherBuild(let tool, let reason):
      ErrorFacts(
        "report.document.otherBuild",
        "the report was written by another build (\(tool)), and this one cannot read it",
        cause: reason,
        advice: "Open its report.html from disk, or make the report again: "
          + "retake test --report report")
    case .notWritten(let file, let reason):
      ErrorFacts(
        "report.folder.notWritten", "the report could not be written", cause: reason, at: file,
        advice: "Choose another folder with --report DIR, or free space on the disk")
    case .otherFile(let file):
      ErrorFacts(
        "report.folder.otherFile", "the report would replace a file that Retake did not write",
        at: file, advice: "Choose another folder with --report DIR, or move the file away first")
    case .drawingTooLarge(let nodes, let most):
      ErrorFacts(
        "report.drawing.tooLarge", "the pipeline has \(nodes) nodes; at most \(most) are drawn",
        advice: "Write it for Graphviz: retake pipeline draw FILE --dot")
    }
  }
}
