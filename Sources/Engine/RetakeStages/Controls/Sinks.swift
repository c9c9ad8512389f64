public import RetakeCore
public import RetakeGraph

/// The ends of pipelines.
enum Sinks {
  static let results = StageSignature(
    kind: "results", version: 1, role: .sink, input: nil, output: nil,
    summary: "writes values as result lines")
  static let metadata = StageSignature(
    kind: AnyStage.metadataKind, version: 1, role: .sink, input: nil, output: nil,
    summary: "writes result lines, and JSON lines to the file of --metadata")
  static let discard = StageSignature(
    kind: AnyStage.discardKind, version: 1, role: .sink, input: nil, output: nil,
    summary: "writes no results, but counts frames in its ledger")
  static let closure = StageSignature(
    kind: "closure", version: 1, role: .sink, input: nil, output: nil,
    summary: "calls a closure with each value")

  /// The run writes the lines of these sinks, so the body is empty.
  static let silent = AnyStage.Body.sink { _ in }

  static func stage(_ signature: StageSignature) -> AnyStage {
    AnyStage(signature: signature, options: AnyStage.canonical(NoOptions()), body: silent)
  }
}

extension AnyStage {
  /// A sink that writes the arriving values as result lines; for `PipelineChain.sink(_:)`.
  public static var results: AnyStage { Sinks.stage(Sinks.results) }
  /// A sink for analytics: its results are also written as JSON lines, if a run is configured to do
  /// so; for `PipelineChain.sink(_:)`.
  public static var metadata: AnyStage { Sinks.stage(Sinks.metadata) }
  /// A sink that writes no results; for `PipelineChain.sink(_:)`.
  public static var discard: AnyStage { Sinks.stage(Sinks.discard) }
}

extension PipelineChain {
  /// Ends the pipeline with a sink that writes the arriving values as result lines.
  ///
  /// - Parameters:
  ///   - id: The sink's ID, which result lines and goldens name.
  ///   - precision: Rounding steps of numbers, by field: `box` (default 0.1), `score` (0.0001) and
  ///     `scalar` (0.001).
  public func results(_ id: String = "results", precision: [String: Double] = [:]) -> Pipeline {
    sink(.results, id: id, precision: precision)
  }

  /// Ends the pipeline with a sink for analytics: `retake replay --metadata NODE=FILE` writes its
  /// results as JSON lines to a file. In goldens it is like `results`.
  ///
  /// - Parameters:
  ///   - id: The sink's ID, which `--metadata` and goldens name.
  ///   - precision: Rounding steps of numbers, as for `results`.
  public func metadata(_ id: String = "metadata", precision: [String: Double] = [:]) -> Pipeline {
    sink(.metadata, id: id, precision: precision)
  }

  /// Ends the pipeline with a sink that writes no results; its ledger still counts.
  public func discard(_ id: String = "discard") -> Pipeline {
    sink(.discard, id: id)
  }

  /// Ends the pipeline with a closure that is called with each value that arrives, and with each
  /// failure. It is not called for frames that were dropped, throttled, replaced or left in
  /// flight: for these, and for the number and the time of each frame, there is `deliverySink`.
  ///
  /// ```swift
  /// gray.motion().sink { result in
  ///   switch result {
  ///   case .success(let boxes): show(boxes)
  ///   case .failure(let failure) where failure.isRecoverable: skip(failure.frame)
  ///   case .failure(let failure): stop(because: failure.message)
  ///   }
  /// }
  /// ```
  ///
  /// Such a pipeline has no document.
  ///
  /// - Parameters:
  ///   - id: The sink's ID, which decisions and summaries name.
  ///   - body: Called on a thread of the run, one call at a time, in the order of virtual time.
  public func sink(
    _ id: String = "sink", _ body: @escaping @Sendable (Result<Output, StageFailure>) -> Void
  ) -> Pipeline {
    deliverySink(id) { delivery in
      if let result = delivery.result(as: Output.self) { body(result) }
    }
  }

  /// Ends the pipeline with a closure that is called for each frame, also for a frame that ended
  /// before the sink, in the order of virtual time. Such a pipeline has no document.
  ///
  /// ```swift
  /// gray.motion().deliverySink { delivery in
  ///   if case .ended(let fate, let node) = delivery.content { log(delivery.frame, fate, node) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - id: The sink's ID, which decisions and summaries name.
  ///   - body: Called on a thread of the run, one call at a time.
  public func deliverySink(
    _ id: String = "sink", _ body: @escaping @Sendable (SinkDelivery) -> Void
  ) -> Pipeline {
    sink(
      AnyStage(
        signature: Sinks.closure, options: AnyStage.canonical(NoOptions()), body: .sink(body),
        isExportable: false), id: id)
  }
}
