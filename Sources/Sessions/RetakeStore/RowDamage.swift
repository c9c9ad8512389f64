import Foundation
import GRDB

/// A value that does not occur in a session: the file is damaged or malicious.
struct RowDamage: Error {
  var table: String
  var column: String
  /// The row's key: `track 0, index 3`; nil if it is not a single row of the table.
  var key: String?
  /// A short form of the value.
  var value: String?

  init(table: String, column: String, key: String? = nil, value: String? = nil) {
    (self.table, self.column, self.key, self.value) = (table, column, key, value)
  }

  /// `packet.size of track 0, index 3 is -1, which no session has`.
  var cause: String {
    let place = "\(table).\(column)" + (key.map { " of \($0)" } ?? "")
    guard let value else { return "\(place) holds a value that no session has" }
    return "\(place) is \(value), which no session has"
  }
}
