import RetakeCore

/// Errors of reports themselves.
package enum ReportError: CodedError, Hashable {
  case unreadable(reason: String)
  case newerVersion(Int)
  /// Written by another build, with other keys.
  case otherBuild(tool: String, reason: String)
  /// A resource that is built into the program is damaged.
  case template(reason: String)
  case notWritten(file: String, reason: String)
  case drawingTooLarge(nodes: Int, nodesMax: Int)

  package var code: String {
    switch self {
    case .unreadable: "report.document.unreadable"
    case .newerVersion: "report.document.newerVersion"
    case .otherBuild: "report.document.otherBuild"
    case .template: "report.html.template"
    case .notWritten: "report.folder.notWritten"
    case .drawingTooLarge: "report.drawing.tooLarge"
    }
  }

  package var message: String {
    switch self {
    case .unreadable: "this is not a report document"
    case .newerVersion(let version):
      "the report has version \(version), and this retake reads version 1"
    case .otherBuild(let tool, _):
      "the report was written by another build (\(tool)), and this one cannot read it"
    case .template: "the report page's template is damaged"
    case .notWritten: "the report could not be written"
    case .drawingTooLarge(let nodes, let most):
      "the pipeline has \(nodes) nodes; at most \(most) are drawn"
    }
  }

  package var cause: String? {
    switch self {
    case .unreadable(let reason), .template(let reason), .notWritten(_, let reason),
      .otherBuild(_, let reason):
      reason
    case .newerVersion, .drawingTooLarge: nil
    }
  }

  package var place: Place? {
    if case .notWritten(let file, _) = self { Place(file: file) } else { nil }
  }

  package var advice: String? {
    switch self {
    case .unreadable: "Make the report again with retake test"
    case .newerVersion: "Update retake, or make the report again with this one"
    case .otherBuild:
      "Open its report.html from disk, or make the report again: retake test --report report"
    case .template: "Build retake again from a clean clone"
    case .notWritten: "Choose another folder with --report DIR, or make room on the disk"
    case .drawingTooLarge: "Write it for Graphviz: retake pipeline draw FILE --dot"
    }
  }
}
