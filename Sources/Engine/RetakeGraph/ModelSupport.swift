/// Functions of the model kinds beyond their stages, for the files and the goldens of a project.
package struct ModelSupport: Sendable {
  /// The library that computes models, as it is on this machine.
  package struct Library: Hashable, Sendable {
    package var version: String
    /// The file that the system's loader chose.
    package var path: String

    package init(version: String, path: String) { (self.version, self.path) = (version, path) }
  }

  /// Loads the library, or returns the loaded library.
  package var library: @Sendable () throws -> Library
  /// The path of a model's sidecar.
  package var sidecar: @Sendable (_ model: String) -> String
  /// Whether a sidecar names the digest of its model, which is checked when the model is read.
  package var namesDigest: @Sendable (_ sidecar: String) -> Bool

  package init(
    library: @escaping @Sendable () throws -> Library,
    sidecar: @escaping @Sendable (_ model: String) -> String,
    namesDigest: @escaping @Sendable (_ sidecar: String) -> Bool
  ) {
    (self.library, self.sidecar, self.namesDigest) = (library, sidecar, namesDigest)
  }
}
