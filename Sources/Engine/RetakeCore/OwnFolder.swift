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
    let (root, target) = (components(folder), components(path))
    guard let real = realPath(folder) else {
      // A folder that does not exist contains no links. A link without a target is reported,
      // because a write through it would create the target.
      let link = "/" + root.joined(separator: "/")
      return target.count > root.count && target.starts(with: root) && isLink(link) ? link : nil
    }
    var walk = OwnPath(real: components(real), root: root)
    return walk.linkOut(target)
  }

  /// The components of an absolute path, including `..`: after a link, `..` leads to the parent of
  /// the link's target, not to the parent in the text.
  fileprivate static func components(_ path: String) -> [Substring] {
    let start = path.hasPrefix("/") ? "" : FileManager.default.currentDirectoryPath + "/"
    return (start + path).split(separator: "/").filter { $0 != "." }
  }

  fileprivate static func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// The path without links; `nil` if it does not exist.
  package static func realPath(_ path: String) -> String? {
    // man 3 realpath: the caller's buffer has PATH_MAX bytes.
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard realpath(path, &bytes) != nil else { return nil }
    return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// Follows a path as the kernel does, one component after another.
private struct OwnPath {
  /// The folder, without links and as it was given.
  let real: [Substring]
  let root: [Substring]
  /// Where the path leads so far, without links, and the text that leads there.
  private var place: [Substring] = []
  private var text: [Substring] = []
  /// The last link of the folder that the path goes through.
  private var link: String?

  init(real: [Substring], root: [Substring]) { (self.real, self.root) = (real, root) }

  private var isInside: Bool { place.starts(with: real) }

  /// Whether the path is in the folder by its text alone.
  private func isMeantInside(_ path: [Substring]) -> Bool {
    var text: [Substring] = []
    for component in path {
      if component != ".." { text.append(component) } else if !text.isEmpty { text.removeLast() }
    }
    return text.starts(with: root)
  }

  mutating func linkOut(_ path: [Substring]) -> String? {
    for component in path {
      if component == ".." {
        let wasInside = isInside
        if !place.isEmpty { place.removeLast() }
        text = isInside ? root + place.dropFirst(real.count) : place
        // The path leaves the folder through a link, although its text stays in the folder.
        if wasInside, !isInside, isMeantInside(path), let link { return link }
        continue
      }
      text.append(component)
      let current = "/" + text.joined(separator: "/")
      guard OwnFolder.isLink(current) else {
        place.append(component)
        continue
      }
      let end = OwnFolder.realPath(current).map(OwnFolder.components)
      if isInside {
        // Each component counts: a link in the middle of the path redirects everything below it.
        guard let end, end.count > real.count, end.starts(with: real) else { return current }
        link = current
      }
      // Another link may lead to the folder. A link without a target leads to no file in the
      // folder.
      guard let end else { return nil }
      place = end
    }
    return nil
  }
}
