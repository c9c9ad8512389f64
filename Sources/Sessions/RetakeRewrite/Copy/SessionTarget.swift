import Foundation
import RetakeSession

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
    try SessionFolder(new: name, or: session.name, in: into) { target in
      // With links resolved: a link could lead into the session itself.
      let (here, there) = (Self.real(session.path), Self.real(into) + "/" + target.name)
      guard there != here, !there.hasPrefix(here + "/") else {
        throw SessionError.intoItself(path: session.path)
      }
    }
  }
}

extension SessionTarget {
  /// Resolves links and dots.
  private static func real(_ path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
  }
}
