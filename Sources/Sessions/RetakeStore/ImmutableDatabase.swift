import Foundation
package import GRDB

/// A database that is read without locks, logs or files next to it.
package enum ImmutableDatabase {
  /// SQLite's URI form of a file name with options; all bytes except plain bytes are escaped.
  package static func uri(of path: String) -> String {
    let absolute = URL(fileURLWithPath: path).path
    // In a URI `?`, `#` and `%` have meanings, and a folder's name may contain them.
    let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-".utf8)
    var escaped = ""
    for byte in absolute.utf8 {
      if plain.contains(byte) {
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16)
        escaped += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return "file:\(escaped)?mode=ro&immutable=1"
  }
}

extension Configuration {
  /// For a database that may come from another person, and is not changed: functions in its schema
  /// are not run, a page's cells are checked when it is loaded, and a file that is cut is a failed
  /// read and not SIGBUS.
  ///
  /// - Parameters:
  ///   - readonly: Otherwise SQLite may write a log next to it.
  ///   - valueBytesMax: The longest value that is read.
  ///   - prepare: Called for each connection, after these settings.
  package static func reading(
    _ label: String, readonly: Bool, valueBytesMax: Int,
    prepare: @escaping @Sendable (Database) throws -> Void
  ) -> Configuration {
    var configuration = Configuration()
    configuration.label = label
    configuration.readonly = readonly
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA trusted_schema = OFF")
      try database.execute(sql: "PRAGMA cell_size_check = ON")
      try database.execute(sql: "PRAGMA mmap_size = 0")
      ValueLimit.set(database, bytesMax: valueBytesMax)
      try prepare(database)
    }
    return configuration
  }
}
