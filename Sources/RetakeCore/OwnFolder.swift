import Foundation

/// A folder whose content may come from someone else, such as a project. Git stores symbolic links,
/// and a write through a link goes to its target.
package enum OwnFolder {
  /// The first link on the path from a folder to something in it that leads out of the folder, or
  /// to a target that does not exist; `nil` if no link does, or if the path is not in the folder.
  ///
  /// - Parameters:
  ///   - folder: May be a link itself, and may be reached through others.
  ///   - path: The path of something in the folder, existing or not.
  package static func linkOut(of folder: String, to path: String) -> String? {
    let root = URL(fileURLWithPath: folder).standardizedFileURL.path
    let target = URL(fileURLWithPath: path).standardizedFileURL.path
    guard target.hasPrefix(root + "/") else { return nil }
    // A folder that does not exist contains no links. A link without a target is reported, because
    // a write through it would create the target.
    guard let real = realPath(root) else { return isLink(root) ? root : nil }
    var current = root
    for component in target.dropFirst(root.count + 1).split(separator: "/") {
      current += "/" + component
      // Each component counts: a link in the middle of the path redirects everything below it.
      guard isLink(current) else { continue }
      // Compared with the real path of the folder, which may itself be reached through links.
      guard let end = realPath(current), end.hasPrefix(real + "/") else { return current }
    }
    return nil
  }

  private static func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// The path without links; `nil` if it does not exist.
  private static func realPath(_ path: String) -> String? {
    // man 3 realpath: the caller's buffer has PATH_MAX bytes.
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard realpath(path, &bytes) != nil else { return nil }
    return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
