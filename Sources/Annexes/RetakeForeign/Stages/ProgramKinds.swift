import RetakeCore
package import RetakeGraph

extension StageRegistry {
  /// The kind `process`, which starts no program until that is allowed.
  package mutating func registerPrograms() {
    registerNode(
      AnyStage.processSignature, options: StageOption.all(of: ProcessOptions.self),
      make: Self.makeProcess(.declared))
    annexes.programs.append { registry, access in
      registry.replaceNode(AnyStage.processSignature, make: Self.makeProcess(access))
    }
  }

  private static func makeProcess(
    _ access: ProgramAccess
  ) -> @Sendable (JSONValue) throws -> AnyStage {
    { given in
      let options = try OptionReader.read(
        ProcessOptions.self, from: given, kind: AnyStage.processKind)
      do {
        return try options.stage(
          access.permission, access.limits, listener: access.listener, places: access.places)
      } catch {
        throw OptionProblem(wrapping: error)
      }
    }
  }
}

extension ProgramPermission {
  /// - Throws: `ForeignError.notAllowed`, `ForeignError.neverAllowed`, `ForeignError.forbidden`.
  func check(_ name: String) throws {
    switch self {
    case .all: return
    case .never: throw ForeignError.neverAllowed(name)
    case .forbidden: throw ForeignError.forbidden(name)
    case .named(let names): guard names.contains(name) else { throw ForeignError.notAllowed(name) }
    }
  }
}
