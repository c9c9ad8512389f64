import RetakeBuffers
import RetakeCore

/// Who serves the last node, what it takes, and what happens when it takes too long or fails.
extension PipelineChain {
  /// The virtual cost of the last node.
  ///
  /// ```swift
  /// grey.motion().cost(.quantiles(p50: .milliseconds(31), p99: .milliseconds(58)))
  /// ```
  public func cost(_ cost: Cost) -> Self {
    changingLast { $0.cost = cost }
  }

  /// The shared executor that serves the last node; declare it with `executor(_:count:)` once.
  ///
  /// ```swift
  /// grey.motion().on(executor: "vision").executor("vision", count: 2)
  /// ```
  public func on(executor: String) -> Self {
    changingLast { $0.executor = executor }
  }

  /// Declares a shared executor with so many servers, once.
  public func executor(_ id: String, count: Int = 1) -> Self {
    var chain = self
    chain.pipeline.executors.append(PipelineExecutor(id: id, count: count))
    return chain
  }

  /// How many frames the last node may work on at once, 1 to 64. Their outputs leave in order; a
  /// stage that remembers has one lane.
  ///
  /// ```swift
  /// frames.stage(detector).cost(.fixed(.milliseconds(60))).lanes(2)
  /// ```
  public func lanes(_ count: Int) -> Self {
    changingLast { $0.lanes = count }
  }

  /// Gives the last node an executor of its own, and one thread that all its calls are made on.
  ///
  /// ```swift
  /// frames.stage(CoprocessorDetector()).pinned()
  /// ```
  public func pinned() -> Self {
    changingLast { $0.isPinned = true }
  }

  /// What takes the place of a frame that fails at the last node.
  ///
  /// ```swift
  /// frames.stage(detector).timeout(.milliseconds(50)).fallback(.previous)
  /// ```
  public func fallback(_ fallback: Fallback) -> Self {
    changingLast { $0.fallback = fallback }
  }

  /// How long the last node may take: a stage from the start of its service, a join from the first
  /// value that came. A stage's frame then fails; a join goes on without what is late, or drops.
  ///
  /// ```swift
  /// Pipeline.joining(fast, slow, mode: .any).timeout(.milliseconds(50))
  /// ```
  public func timeout(_ timeout: Duration) -> Self {
    changingLast { $0.timeout = timeout }
  }

  /// The pool that the last node's frames lie in; declare it with `pool(_:capacity:policy:)` once.
  ///
  /// ```swift
  /// Pipeline.named("yard").source(.session()).pool("frames").pool("frames", capacity: 8)
  /// ```
  public func pool(_ id: String) -> Self {
    changingLast { $0.pool = id }
  }

  /// Declares a pool of so many buffers, once.
  ///
  /// - Parameters:
  ///   - policy: What happens to a frame for which there is no buffer.
  ///   - adaptive: How the pool follows the load, beginning with `capacity`; `nil` = it does not.
  public func pool(
    _ id: String, capacity: Int, policy: PipelinePool.Policy = .block,
    adaptive: PoolSizing? = nil
  ) -> Self {
    var chain = self
    chain.pipeline.pools.append(
      PipelinePool(id: id, capacity: capacity, policy: policy, adaptive: adaptive))
    return chain
  }
}
