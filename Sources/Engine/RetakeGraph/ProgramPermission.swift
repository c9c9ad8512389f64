/// Which programs the documents that a registry reads may start.
package enum ProgramPermission: Hashable, Sendable {
  /// The programs that retake.yml names, as they are written in `command`.
  case named([String])
  /// Every program: the command line says so, or the pipeline is made in Swift.
  case all
  /// No program, whatever retake.yml names: the document came with a session.
  case never
  /// No program, whatever retake.yml and other options allow: the command line says so.
  case forbidden

  /// Allows one more program, unless programs are forbidden.
  package func adding(_ name: String) -> ProgramPermission {
    switch self {
    case .named(let names): .named(names + [name])
    case .all, .never, .forbidden: self
    }
  }
}
