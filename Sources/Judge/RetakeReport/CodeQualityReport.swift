package import Foundation
import RetakeCore

/// The report as an artifact of GitLab's Code Quality: one issue for each root cause, at the line of
/// its stage in the pipeline's document.
///
/// GitLab compares the issues of two branches by their fingerprints, so an issue that both have is
/// not shown as new.
package enum CodeQualityReport {
  /// The file of an issue that belongs to no pipeline document.
  private static let projectFile = "retake.yml"
  /// The most characters of a description.
  private static let lengthMax = 1_000

  private struct Issue: Encodable {
    var description: String
    var checkName: String
    var fingerprint: String
    var severity: String
    var location: Location

    enum CodingKeys: String, CodingKey {
      case description, checkName = "check_name", fingerprint, severity, location
    }

    struct Location: Encodable {
      var path: String
      var lines: Lines
    }

    struct Lines: Encodable {
      var begin: Int
    }

    init(
      _ description: String, check: String, severity: String, id: String, file: String?,
      line: Int?, place: String
    ) {
      self.description = description.visible(limit: lengthMax)
      checkName = "retake-\(check)"
      fingerprint = "\(Digest128(of: id))"
      self.severity = severity
      location = Location(
        path: path(of: file ?? projectFile, in: place), lines: Lines(begin: line ?? 1))
    }
  }

  /// A JSON array, empty if all cases passed, with a newline at the end.
  ///
  /// - Parameter place: The project's folder in its repository, such as `vision`: GitLab's paths are
  ///   relative to the repository. Empty if the project is the repository's own folder.
  package static func render(_ document: ReportDocument, place: String = "") throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let cases = ReportCase.worstFirst(document.cases)
    let found =
      document.errors.map { issue($0, place) } + cases.flatMap { issues($0, place) }
    return try encoder.encode(found) + [0x0A]
  }

  /// The path without `.` and `..`, which GitLab does not resolve.
  private static func path(of file: String, in place: String) -> String {
    var parts: [Substring] = []
    for part in "\(place)/\(file)".split(separator: "/") where part != "." {
      if part == "..", !parts.isEmpty { parts.removeLast() } else { parts.append(part) }
    }
    return parts.joined(separator: "/")
  }

  private static func issue(_ error: ReportProblem, _ place: String) -> Issue {
    Issue(
      error.message, check: "errored", severity: "critical",
      id: "\(error.code)\u{0}\(error.place ?? "")\u{0}\(error.message)", file: nil, line: nil,
      place: place)
  }

  private static func issues(_ item: ReportCase, _ place: String) -> [Issue] {
    guard let severity = severity(item) else { return [] }
    func found(_ text: String, _ id: String, line: Int?) -> Issue {
      Issue(
        "\(item.title): \(text)", check: item.verdict.key, severity: severity,
        id: "\(item.title)\u{0}\(id)", file: item.document, line: line, place: place)
    }
    guard item.error == nil, !item.rootCauses.isEmpty else {
      return [found(item.headline, item.verdict.key, line: nil)]
    }
    return item.rootCauses.map { cause in
      let worst = item.worstFinding(of: cause).map { "; worst: \($0.message)" } ?? ""
      return found(cause.headline + worst, cause.id, line: cause.line)
    }
  }

  /// `nil` for a case that passed.
  private static func severity(_ item: ReportCase) -> String? {
    // Asked first: a known change has the verdict changed too, and does not fail the run.
    if item.expected != nil { return "info" }
    return switch item.verdict {
    case .passed: nil
    case .errored: "critical"
    case .changed: "major"
    case .missing, .stale, .notComparable: "minor"
    }
  }
}
