/// The programs that the documents of a registry may start, and how.
package struct ProgramAccess: Sendable {
  package var permission: ProgramPermission
  package var limits: ProgramLimits
  /// Receives what the programs write.
  package var listener: ProgramListener?
  /// Where the programs run.
  package var places: InputPlaces

  /// Allows no program that retake.yml does not name, with what its node says.
  package static let declared = ProgramAccess(
    permission: .named([]), limits: .declared, listener: nil, places: .asNamed)
}

/// What the kinds of models know beyond their stages, for the files and the goldens of a project.
package struct ModelSupport: Sendable {
  /// The library that computes models, as it is on this machine.
  package struct Library: Hashable, Sendable {
    package var version: String
    /// The file that the system's loader chose.
    package var path: String

    package init(version: String, path: String) { (self.version, self.path) = (version, path) }
  }

  /// Loads the library, or returns the one that is loaded.
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

extension StageRegistry {
  /// Kinds of annexes that are made in another way if files are at other places, or programs are
  /// allowed. An annex adds itself when it registers its kinds.
  package struct Annexes: Sendable {
    package var places: [@Sendable (inout StageRegistry, InputPlaces) -> Void] = []
    package var programs: [@Sendable (inout StageRegistry, ProgramAccess) -> Void] = []
    /// `nil` without the kinds of models.
    package var models: ModelSupport?
  }

  /// The same registry, with another permission for the kinds that start programs.
  ///
  /// - Parameters:
  ///   - listener: Receives what the programs write.
  ///   - places: Where the programs run.
  package func allowing(
    _ permission: ProgramPermission, limits: ProgramLimits = .declared,
    listener: ProgramListener? = nil, places: InputPlaces = .asNamed
  ) -> StageRegistry {
    var registry = self
    let access = ProgramAccess(
      permission: permission, limits: limits, listener: listener, places: places)
    for allow in annexes.programs { allow(&registry, access) }
    return registry
  }
}
