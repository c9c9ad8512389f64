public import RetakeBuffers

/// Executor, cost, timeout, fallback and pool of the last node.
extension PipelineChain {
  /// The virtual cost of the last node.
  ///
  /// ```swift
  /// gray.motion().cost(.quantiles(p50: .milliseconds(31), p99: .milliseconds(58)))
  /// ```
  ///
  /// - Parameters:
  ///   - cost: Of one call of the stage: for one frame, or for a batch.
  ///   - perFrame: Added to the cost of a batch for each of its frames.
  public func cost(_ cost: Cost, perFrame: Duration? = nil) -> Self {
    changingLast {
      $0.cost = cost
      $0.costPerFrame = perFrame
    }
  }

  /// The last node handles up to `max` waiting frames together, 2 to 64. A free server starts a
  /// batch when `max` frames wait, or when the first of them has waited for `wait`.
  ///
  /// ```swift
  /// frames.stage(detector).cost(.fixed(.milliseconds(8)), perFrame: .milliseconds(1))
  ///   .queue(capacity: 8).batch(max: 8, wait: .milliseconds(5))
  /// ```
  public func batch(max: Int, wait: Duration = .zero) -> Self {
    changingLast { $0.batch = PipelineBatch(max: max, wait: wait) }
  }

  /// The shared executor that serves the last node. Declare it once with `executor(_:count:)`.
  ///
  /// ```swift
  /// gray.motion().on(executor: "vision").executor("vision", count: 2)
  /// ```
  public func on(executor: String) -> Self {
    changingLast { $0.executor = executor }
  }

  /// Declares a shared executor with the given number of servers. Call this once per executor.
  public func executor(_ id: String, count: Int = 1) -> Self {
    var chain = self
    chain.pipeline.executors.append(PipelineExecutor(id: id, count: count))
    return chain
  }

  /// How many frames the last node may handle at once, 1 to 64. Their outputs leave in order. A
  /// stateful stage has concurrency 1.
  ///
  /// ```swift
  /// frames.stage(detector).cost(.fixed(.milliseconds(60))).concurrency(2)
  /// ```
  public func concurrency(_ count: Int) -> Self {
    changingLast { $0.concurrency = count }
  }

  /// Pins the last node: it has its own executor, and one thread for all its calls.
  ///
  /// ```swift
  /// frames.stage(CoprocessorDetector()).pinned()
  /// ```
  public func pinned() -> Self {
    changingLast { $0.isPinned = true }
  }

  /// The value that replaces a frame's output if the frame fails at the last node.
  ///
  /// ```swift
  /// frames.stage(detector).timeout(.milliseconds(50)).fallback(.previous)
  /// ```
  public func fallback(_ fallback: Fallback) -> Self {
    changingLast { $0.fallback = fallback }
  }

  /// The time limit of the last node. For a stage, the time counts from the start of its service;
  /// for a join, from its first value. If a stage times out, its frame fails. A join continues
  /// without the late values, or drops the frame.
  ///
  /// ```swift
  /// Pipeline.joining(fast, slow, mode: .any).timeout(.milliseconds(50))
  /// ```
  public func timeout(_ timeout: Duration) -> Self {
    changingLast { $0.timeout = timeout }
  }

  /// The pool for the last node's frames. Declare it once with `pool(_:capacity:policy:)`.
  ///
  /// ```swift
  /// Pipeline.named("yard").source(.session()).pool("frames").pool("frames", capacity: 8)
  /// ```
  public func pool(_ id: String) -> Self {
    changingLast { $0.pool = id }
  }

  /// Declares a pool with the given number of buffers. Call this once per pool.
  ///
  /// - Parameters:
  ///   - id: The ID that nodes name with `pool(_:)`.
  ///   - capacity: The number of buffers, 1 to 4,096.
  ///   - policy: The rule for a frame that finds all buffers in use.
  ///   - adaptive: How the pool adapts to the load, starting with `capacity`; `nil` = it has a
  ///     fixed size.
  ///   - wait: How long a frame of a source waits for a buffer, at most an hour, before it is lost;
  ///     the policy is `.block`. `nil` = it is lost at once.
  ///   - driverFrames: Frames that the camera's driver keeps while a frame of its source waits, 0
  ///     to 64. Further frames are lost.
  ///   - preallocate: Whether the memory of `capacity` frames is made before the first frame, so
  ///     that no frame waits for new memory. It changes no decision.
  public func pool(
    _ id: String, capacity: Int, policy: PipelinePool.Policy = .block,
    adaptive: PoolSizing? = nil, wait: Duration? = nil, driverFrames: Int = 0,
    preallocate: Bool = false
  ) -> Self {
    var chain = self
    chain.pipeline.pools.append(
      PipelinePool(
        id: id, capacity: capacity, policy: policy, adaptive: adaptive, wait: wait,
        driverFrames: driverFrames, isPreallocated: preallocate))
    return chain
  }
}
