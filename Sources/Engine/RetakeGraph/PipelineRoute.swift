import RetakeCore

/// A chain that ends in a route. It continues from one of the route's ports.
public struct PipelineRoute<Output: PipelineValue>: Sendable {
  private let chain: PipelineChain<Output>
  /// In the order of the route.
  package let ports: [String]

  fileprivate init(_ chain: PipelineChain<Output>, ports: [String]) {
    self.chain = chain
    self.ports = ports
  }

  /// The frames that the route sends to one of its ports.
  ///
  /// ```swift
  /// let sizes = found.route("size", to: ["few", "many"]) { $0.items.count > 5 ? "many" : "few" }
  /// let pipeline = Pipeline.combining(
  ///   sizes.port("few").results("few"), sizes.port("many").discard("many"))
  /// ```
  public func port(_ name: String) -> PipelineChain<Output> {
    requirement(ports.contains(name), "the route has the port '\(name)'")
    return PipelineChain(pipeline: chain.pipeline, last: chain.last, port: name)
  }
}

extension PipelineChain {
  /// Sends each frame to one port of a route.
  public func routing(_ route: AnyStage, id: String? = nil) -> PipelineRoute<Output> {
    requirement(route.signature.role == .route, "only a route has several output ports")
    requirement(!isBody, "the body of a forEach has no branches")
    return PipelineRoute(appending(route, id: id), ports: route.outputPorts)
  }

  /// Sends each frame to the port whose name the closure returns. Such a pipeline has no document.
  ///
  /// ```swift
  /// let sizes = found.route("size", to: ["few", "many"]) { $0.items.count > 5 ? "many" : "few" }
  /// ```
  public func route(
    _ id: String, to ports: [String], _ choose: @escaping @Sendable (Output) -> String
  ) -> PipelineRoute<Output> {
    requirement(
      Set(ports).count == ports.count && (2...AnyStage.portsMax).contains(ports.count),
      "a route has 2 to \(AnyStage.portsMax) ports with different names")
    let signature = StageSignature(
      kind: id, version: 1, role: .route, input: Output.valueKind, output: nil,
      summary: "closure")
    let stage = AnyStage.route(
      signature, options: .object(["ports": .array(ports.map { .string($0) })]), ports: ports,
      isExportable: false
    ) { value in
      guard let typed = value as? Output, let index = ports.firstIndex(of: choose(typed)) else {
        requirementFailure("the route '\(id)' names one of its ports")
      }
      return index
    }
    return routing(stage, id: id)
  }
}
