import Foundation

/// Reports the free space of a disk.
package enum FreeSpace {
  /// Bytes that an unprivileged user may still write at the path; nil when unknown.
  package static func freeBytes(at path: String) -> Int64? {
    var information = statvfs()
    guard statvfs(path, &information) == 0 else { return nil }
    let (bytes, overflow) = Int64(clamping: information.f_bavail)
      // f_bavail counts units of f_frsize, and not of f_bsize (man 3 statvfs).
      .multipliedReportingOverflow(by: Int64(clamping: information.f_frsize))
    return overflow ? .max : bytes
  }

  /// The same for a path that does not exist yet, from its nearest existing parent folder.
  package static func freeBytes(above path: String) -> Int64? {
    var url = URL(fileURLWithPath: path).standardizedFileURL
    // Ends: each round removes a component of the path.
    while !FileManager.default.fileExists(atPath: url.path), url.path != "/" {
      url.deleteLastPathComponent()
    }
    return freeBytes(at: url.path)
  }
}
