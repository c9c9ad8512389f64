public import RetakeCore

/// The kinds of nodes that a program knows. It is the catalog for reading documents.
///
/// Built-in kinds and users' own kinds are registered in the same way:
///
/// ```swift
/// var registry = StageRegistry.builtIn
/// registry.register(BrightRegion.self)  // a PureStage or a StatefulStage
/// let pipeline = try PipelineDocument.parse(data, catalog: registry)
/// ```
public struct StageRegistry: StageCatalog {
  private struct Entry: Sendable {
    var signature: StageSignature
    var options: @Sendable () -> [StageOption]
    var make: @Sendable (JSONValue) throws -> AnyStage
  }

  private var entries: [String: Entry] = [:]
  package var annexes = Annexes()

  /// A registry without kinds. `StageRegistry.builtIn` has the kinds that come with Retake.
  public init() {}

  /// The registered kinds, in byte order.
  public var kinds: [String] { entries.keys.sorted() }

  /// The signature of a registered kind; `nil` for an unknown kind.
  public func signature(of kind: String) -> StageSignature? { entries[kind]?.signature }

  /// Creates a stage of a registered kind. Throws `OptionProblem` for an unknown kind, for an
  /// unknown option, and for a value that the stage refuses.
  public func make(kind: String, options: JSONValue) throws -> AnyStage {
    guard let entry = entries[kind] else {
      throw OptionProblem(
        pointer: "", message: "there is no stage '\(kind)'",
        advice: Suggestion.advice(for: kind, among: kinds))
    }
    return try entry.make(options)
  }

  /// The options of a kind, in the order of their names; empty for an unknown kind.
  package func options(of kind: String) -> [StageOption] { entries[kind]?.options() ?? [] }

  /// Registers a pure stage under its kind. A kind is registered once.
  public mutating func register<Stage: PureStage>(_ type: Stage.Type) {
    add(Stage.signature, options: { StageOption.all(of: Stage.Options.self) }) {
      options in
      AnyStage(try Self.makeStage(Stage.self, options))
    }
  }

  /// Registers a stateful stage under its kind. A kind is registered once.
  public mutating func register<Stage: StatefulStage>(_ type: Stage.Type) {
    add(Stage.signature, options: { StageOption.all(of: Stage.Options.self) }) {
      options in
      AnyStage(try Self.makeStage(Stage.self, options))
    }
  }

  /// Registers a source: `make` returns the frame source for the options of a node.
  public mutating func registerSource<Options: StageOptions>(
    kind: String, version: Int = 1, summary: String, options type: Options.Type,
    make: @escaping @Sendable (Options) throws -> any Sendable
  ) {
    let signature = StageSignature(
      kind: kind, version: version, role: .source, input: nil, output: .frame, summary: summary)
    add(signature, options: { StageOption.all(of: type) }) { given in
      let options = try OptionReader.read(type, from: given, kind: kind)
      do {
        return AnyStage(
          signature: signature, options: AnyStage.canonical(options),
          body: .source(try make(options)))
      } catch {
        throw OptionProblem(wrapping: error)
      }
    }
  }

  /// Registers a node that the engine itself executes: a throttle or a sink.
  package mutating func registerControl<Options: StageOptions>(
    _ signature: StageSignature, options type: Options.Type,
    make: @escaping @Sendable (Options) throws -> AnyStage.Body
  ) {
    add(signature, options: { StageOption.all(of: type) }) { given in
      let options = try OptionReader.read(type, from: given, kind: signature.kind)
      do {
        return AnyStage(
          signature: signature, options: AnyStage.canonical(options), body: try make(options))
      } catch {
        throw OptionProblem(wrapping: error)
      }
    }
  }

  /// Registers a node that the engine itself executes and whose ports or options have a form of
  /// their own.
  ///
  /// - Parameter options: For people: `make` reads them.
  package mutating func registerNode(
    _ signature: StageSignature, options: [StageOption],
    make: @escaping @Sendable (JSONValue) throws -> AnyStage
  ) {
    add(signature, options: { options }, make: make)
  }

  /// Replaces how nodes of a kind are made, for a kind that is registered.
  package mutating func replaceNode(
    _ signature: StageSignature,
    make: @escaping @Sendable (JSONValue) throws -> AnyStage
  ) {
    guard let known = entries[signature.kind] else { return }
    entries[signature.kind] = Entry(signature: signature, options: known.options, make: make)
  }

  private mutating func add(
    _ signature: StageSignature, options: @escaping @Sendable () -> [StageOption],
    make: @escaping @Sendable (JSONValue) throws -> AnyStage
  ) {
    requirement(
      entries[signature.kind] == nil, "the stage kind '\(signature.kind)' is registered twice")
    requirement(
      PipelineNode.isValidID(signature.kind),
      "'\(signature.kind)' is not a stage kind: write [a-z][A-Za-z0-9-]*")
    entries[signature.kind] = Entry(signature: signature, options: options, make: make)
  }

  private static func makeStage<Stage: StageDefinition>(
    _ type: Stage.Type, _ given: JSONValue
  ) throws -> Stage {
    let options = try OptionReader.read(Stage.Options.self, from: given, kind: Stage.kind)
    do {
      return try Stage(options: options)
    } catch {
      throw OptionProblem(wrapping: error)
    }
  }
}

extension OptionProblem {
  /// An error that a stage threw when it was made.
  package init(wrapping error: any Error) {
    switch error {
    case let problem as OptionProblem: self = problem
    case let error as OptionError:
      self.init(pointer: "/\(error.key)", message: "'\(error.key)' \(error.message)")
    case let error as any CodedError:
      // An option has only its own place, so the error's place and cause go into the message.
      self.init(
        pointer: "",
        message: (error.place.map { "\($0): " } ?? "") + error.message
          + (error.cause.map { " (\($0))" } ?? ""),
        advice: error.advice, code: error.code)
    default: self.init(pointer: "", message: "\(error)")
    }
  }
}
