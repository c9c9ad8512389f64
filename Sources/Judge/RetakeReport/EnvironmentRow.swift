import Foundation

/// One fact about the environment, when the golden was accepted and now.
package struct EnvironmentRow: Hashable, Sendable, Codable {
  package var name: String
  package var golden: String?
  package var actual: String?

  package init(_ name: String, golden: String?, actual: String?) {
    self.name = name
    self.golden = golden
    self.actual = actual
  }

  package var differs: Bool { golden != actual }
}
