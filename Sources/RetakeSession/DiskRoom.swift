import Foundation

/// How much room a disk has.
package enum DiskRoom {
  /// Bytes that an ordinary user may still write where the path lies; nil when nobody can say.
  package static func freeBytes(at path: String) -> Int64? {
    var information = statvfs()
    guard statvfs(path, &information) == 0 else { return nil }
    let (bytes, overflow) = Int64(clamping: information.f_bavail)
      .multipliedReportingOverflow(by: Int64(clamping: information.f_frsize))
    return overflow ? .max : bytes
  }

  /// The same for a path that does not exist yet: of the nearest folder above it that does.
  static func freeBytes(above path: String) -> Int64? {
    var url = URL(fileURLWithPath: path).standardizedFileURL
    // Ends: each round takes a part off the path.
    while !FileManager.default.fileExists(atPath: url.path), url.path != "/" {
      url.deleteLastPathComponent()
    }
    return freeBytes(at: url.path)
  }
}
