import Foundation

/// An exact command and its purpose.
package struct ReportCommand: Hashable, Sendable, Codable {
  /// A few words, such as "replay it" or "accept the new result".
  package var title: String
  package var command: String

  package init(_ title: String, _ command: String) {
    self.title = title
    self.command = command
  }

  /// Whether it accepts a result. The name of the program is not checked, because it may be any
  /// name.
  package var accepts: Bool { command.contains(" accept ") && !replays }

  /// Whether it only shows a result again.
  var replays: Bool { command.contains(" replay ") }
}
