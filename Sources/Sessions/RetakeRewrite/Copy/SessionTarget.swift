import Foundation
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore

/// The destination of a session that is made from another one.
package struct SessionTarget: Hashable, Sendable {
  /// The parent folder of the new session's folder.
  package var into: String
  /// The new session's name; nil keeps the original's.
  package var name: String?

  package init(into: String, name: String? = nil) {
    self.into = into
    self.name = name
  }

  /// - Throws: `SessionError.badName`, `.intoItself` or `.nameTaken`.
  func folder(for session: SessionFolder) throws -> SessionFolder {
    let name: String
    if let wanted = self.name {
      name = try SessionFolder.checked(name: wanted)
    } else {
      name = try SessionFolder.sanitized(name: session.name)
    }
    let target = SessionFolder(path: into + "/" + name)
    // With links resolved: a link could lead into the session itself.
    let (here, there) = (session.path, Self.real(into) + "/" + name)
    guard there != Self.real(here), !there.hasPrefix(Self.real(here) + "/") else {
      throw SessionError.intoItself(path: here)
    }
    guard !FileManager.default.fileExists(atPath: target.path) else {
      throw SessionError.nameTaken(path: target.path)
    }
    return target
  }
}

extension SessionTarget {
  /// Resolves links and dots.
  private static func real(_ path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
  }
}
