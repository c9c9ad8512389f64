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
  package static func freeBytes(above path: String) -> Int64? { freeBytes(at: existing(path)) }

  /// The disk of a path, as `df` names it: `the disk at /mnt/usb`.
  package static func disk(above path: String) -> String {
    var url = URL(fileURLWithPath: existing(path)).resolvingSymlinksInPath()
    let device = self.device(url.path)
    // Ends: each round removes a component of the path.
    while url.path != "/", self.device(url.deletingLastPathComponent().path) == device {
      url.deleteLastPathComponent()
    }
    return "the disk at \(url.path)"
  }

  private static func device(_ path: String) -> dev_t? {
    var information = stat()
    return stat(path, &information) == 0 ? information.st_dev : nil
  }

  private static func existing(_ path: String) -> String {
    var url = URL(fileURLWithPath: path).standardizedFileURL
    // Ends: each round removes a component of the path.
    while !FileManager.default.fileExists(atPath: url.path), url.path != "/" {
      url.deleteLastPathComponent()
    }
    return url.path
  }
}
