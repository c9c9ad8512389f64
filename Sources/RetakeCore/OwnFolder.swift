import Foundation

/// A folder whose content may come from someone else, such as a project: git stores symbolic links,
/// and what is written through one lands where it leads.
package enum OwnFolder {
  /// The first link on the way from a folder to a path in it that leads out of the folder, or to
  /// nothing; `nil` where there is none, or the path is not in the folder.
  ///
  /// - Parameters:
  ///   - folder: May be a link itself, and lie behind others.
  ///   - path: Of anything in it, there or not.
  package static func linkOut(of folder: String, to path: String) -> String? {
    let root = URL(fileURLWithPath: folder).standardizedFileURL.path
    let target = URL(fileURLWithPath: path).standardizedFileURL.path
    guard target.hasPrefix(root + "/") else { return nil }
    guard let real = realPath(root) else { return isLink(root) ? root : nil }
    var current = root
    for component in target.dropFirst(root.count + 1).split(separator: "/") {
      current += "/" + component
      guard isLink(current) else { continue }
      guard let end = realPath(current), end.hasPrefix(real + "/") else { return current }
    }
    return nil
  }

  private static func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// Without links; `nil` for what is not there.
  private static func realPath(_ path: String) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard realpath(path, &bytes) != nil else { return nil }
    return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
