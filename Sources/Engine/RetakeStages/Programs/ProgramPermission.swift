import RetakeCore
import RetakeForeign
package import RetakeGraph
import RetakeRuntime

/// Which programs the documents that a registry reads may start.
package enum ProgramPermission: Hashable, Sendable {
  /// Those that retake.yml names, as they are written in `command`.
  case named([String])
  /// Every program: the command line says so, or the pipeline is made in Swift.
  case all
  /// None, whatever retake.yml names: the document came with a session.
  case never
  /// None, whatever retake.yml and other options allow: the command line says so.
  case forbidden

  /// Allows one more program, unless none is ever allowed.
  package func adding(_ name: String) -> ProgramPermission {
    switch self {
    case .named(let names): .named(names + [name])
    case .all, .never, .forbidden: self
    }
  }

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

/// The time that the programs of documents have for an answer.
package enum ProgramLimits: Hashable, Sendable {
  /// What the node says.
  case declared
  /// A day, so that someone can look at a program in a debugger.
  case lifted
}

extension StageRegistry {
  /// The kind `process`, which starts no program until that is allowed.
  mutating func registerPrograms() {
    registerNode(
      AnyStage.processSignature, options: StageOption.all(of: ProcessOptions.self),
      make: Self.makeProcess(.named([]), .declared))
  }

  /// The same registry, with another permission for the kind `process`.
  ///
  /// - Parameters:
  ///   - listener: Receives what the programs write.
  ///   - places: Where the programs run.
  package func allowing(
    _ permission: ProgramPermission, limits: ProgramLimits = .declared,
    listener: ProgramListener? = nil, places: InputPlaces = .asNamed
  ) -> StageRegistry {
    var registry = self
    registry.replaceNode(
      AnyStage.processSignature, make: Self.makeProcess(permission, limits, listener, places))
    return registry
  }

  private static func makeProcess(
    _ permission: ProgramPermission, _ limits: ProgramLimits, _ listener: ProgramListener? = nil,
    _ places: InputPlaces = .asNamed
  ) -> @Sendable (JSONValue) throws -> AnyStage {
    { given in
      let options = try OptionReader.read(
        ProcessOptions.self, from: given, kind: AnyStage.processKind)
      do {
        return try options.stage(
          permission, limits, listener: listener, places: places)
      } catch {
        throw OptionProblem(wrapping: error)
      }
    }
  }
}
