import Foundation

/// A database that is read without locks, logs or files next to it.
package enum ImmutableDatabase {
  /// SQLite's URI form of a file name with options; all bytes except plain ones are escaped.
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
