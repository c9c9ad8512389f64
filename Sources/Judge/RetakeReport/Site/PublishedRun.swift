import Foundation
import RetakeCompare
import RetakeCore

/// A run on a site of published reports: its row on the site's first page, and its measures for
/// `retake trend`.
package struct PublishedRun: Hashable, Sendable, Codable {
  /// A case that did not pass.
  package struct Change: Hashable, Sendable, Codable {
    /// `SESSION/CASE`.
    package var title: String
    package var verdict: String
    package var headline: String
    /// The commands that accept it.
    package var accept: [String]
  }

  /// The largest error of a case, or another number that has a limit or a direction.
  package struct Measure: Hashable, Sendable, Codable {
    /// `SESSION/CASE`.
    package var title: String
    /// For example `boxes.position`.
    package var name: String
    package var value: Double
    /// The tolerance or the budget; `nil` for a metric without one.
    package var allowed: Double?
    /// Set if `allowed` is the least that is allowed instead of the most.
    package var isMinimum: Bool?
    package var unit: String?

    /// The part of the tolerance that the error used: above 1 it is exceeded. `nil` without a
    /// tolerance.
    package var eaten: Double? {
      guard let allowed else { return nil }
      let (part, limit) = isMinimum == true ? (allowed, value) : (value, allowed)
      return limit > 0 ? part / limit : part == 0 ? 0 : .infinity
    }
  }

  package var v = 1
  package var title: String
  package var branch: String
  package var commit: String?
  /// Wall-clock time as an ISO 8601 string in UTC.
  package var at: String
  package var exit: ReportExit
  package var counts: VerdictCounts
  package var changes: [Change]
  package var measures: [Measure]

  package init(_ document: ReportDocument, branch: String, commit: String?) {
    title = document.title
    self.branch = branch
    self.commit = commit
    at = document.generatedAt ?? "unknown"
    exit = document.exit
    counts = document.counts
    let cases = ReportCase.worstFirst(document.cases)
    changes = cases.filter { $0.verdict != .passed }.map { item in
      Change(
        title: item.title, verdict: item.verdictWords, headline: item.headline,
        accept: (item.rootCauses.flatMap(\.commands) + item.commands).filter(\.accepts)
          .map(\.command))
    }
    measures = document.cases.flatMap(Self.measures)
  }

  private static func measures(_ item: ReportCase) -> [Measure] {
    item.headroom.map {
      Measure(
        title: item.title, name: $0.measure, value: $0.largest, allowed: $0.allowed, unit: $0.unit)
    }
      + item.budgets.map {
        Measure(
          title: item.title, name: $0.name, value: $0.actual, allowed: $0.limit,
          isMinimum: $0.isMinimum, unit: $0.unit)
      }
      + (item.labels?.metrics ?? []).compactMap { metric in
        metric.actual.map { Measure(title: item.title, name: metric.name, value: $0) }
      }
  }

  /// `2026-11-29`.
  package var day: String { String(at.prefix(10)) }

  /// As the report's document: numbers that JSON does not have are strings.
  func encoded() throws -> Data { try ReportDocument.encoder.encode(self) + [0x0A] }

  /// - Throws: `DecodingError`, also for a newer version.
  init(parsing data: Data) throws {
    self = try ReportDocument.decoder.decode(PublishedRun.self, from: data)
    guard v == 1 else {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "version \(v)"))
    }
  }
}
