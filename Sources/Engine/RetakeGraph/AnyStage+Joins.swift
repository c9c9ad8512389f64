package import RetakeCore

/// The nodes that combine frames. The engine itself executes them.
extension AnyStage {
  /// The largest number of inputs of a join, and of outputs of a route.
  package static let portsMax = 16

  package static let forEachKind = "forEach"

  /// Pairs the frames of its ports by their track and sequence.
  public static func join(_ ports: [String], mode: JoinMode = .all) -> AnyStage {
    var stage = AnyStage(
      // In the options for the document and its digest; `inputPorts` has the same list for the
      // graph.
      signature: joinSignature,
      options: .object([
        "mode": .string(mode.rawValue), "ports": .array(ports.map { .string($0) }),
      ]), body: .join(mode))
    stage.inputPorts = ports
    return stage
  }

  /// Continues with each frame of the first port and the newest values of the others.
  public static func latest(_ ports: [String]) -> AnyStage {
    var stage = AnyStage(
      signature: latestSignature,
      options: .object(["ports": .array(ports.map { .string($0) })]), body: .latest)
    stage.inputPorts = ports
    return stage
  }

  /// Sends each frame to the port whose index `choose` returns.
  package static func route(
    _ signature: StageSignature, options: JSONValue, ports: [String], isExportable: Bool = true,
    choose: @escaping @Sendable (any PipelineValue) -> Int
  ) -> AnyStage {
    var stage = AnyStage(
      signature: signature, options: options, body: .route(choose), isExportable: isExportable)
    stage.outputPorts = ports
    return stage
  }

  package static let joinSignature = StageSignature(
    kind: "join", version: 1, role: .join, input: nil, output: nil,
    summary: "pairs the frames of its ports: all frames, or any that arrive")

  package static let latestSignature = StageSignature(
    kind: "latest", version: 1, role: .latest, input: nil, output: nil,
    summary: "each frame of its first port with the newest value of the others")

  package static let forEachSignature = StageSignature(
    kind: forEachKind, version: 1, role: .fork, input: nil, output: nil,
    summary: "carries out its body for each detection of a joined frame and detections")

  package static var forEach: AnyStage {
    AnyStage(signature: forEachSignature, options: .object([:]), body: .fork)
  }

  package static var gather: AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: "gather", version: 1, role: .gather, input: nil, output: nil,
        summary: "the items of a forEach, in their order again"),
      options: .object([:]), body: .gather)
  }
}
