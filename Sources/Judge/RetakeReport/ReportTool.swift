import Foundation

/// The program that wrote the report.
package struct ReportTool: Hashable, Sendable, Codable {
  package var name: String
  package var version: String

  package init(name: String = "retake", version: String) {
    self.name = name
    self.version = version
  }
}
