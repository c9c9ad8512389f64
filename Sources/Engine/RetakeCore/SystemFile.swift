import Foundation

/// Files in which the system answers, such as the files of /proc. Their size is 0.
package enum SystemFile {
  /// The text up to the end. `String(contentsOfFile:)` reads only 4 KiB of a file with the size 0.
  package static func text(_ path: String) -> String? {
    guard let data = try? FileHandle(forReadingAtPath: path)?.readToEnd() else { return nil }
    return String(decoding: data, as: UTF8.self)
  }
}
