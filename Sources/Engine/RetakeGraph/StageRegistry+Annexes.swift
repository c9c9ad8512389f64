/// The programs that the documents of a registry may start, and how.
package struct ProgramAccess: Sendable {
  package var permission: ProgramPermission
  package var limits: ProgramLimits
  /// Receives the programs' output lines and log messages.
  package var listener: ProgramListener?
  /// Where the programs run.
  package var places: InputPlaces

  /// The default: no program may start until retake.yml or the command line allows it, and the
  /// timeouts of nodes apply.
  package static let declared = ProgramAccess(
    permission: .named([]), limits: .declared, listener: nil, places: .asNamed)
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
  ///   - listener: Receives the programs' output lines and log messages.
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
