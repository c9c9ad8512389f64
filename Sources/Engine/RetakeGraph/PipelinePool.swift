package import RetakeBuffers

/// Buffers for frames. There are never more than the capacity, or than the maximum of an adaptive
/// pool.
public struct PipelinePool: Hashable, Sendable {
  /// The rule for a frame that finds all buffers in use.
  public enum Policy: String, Hashable, Sendable, CaseIterable {
    /// A stage waits; a source loses the frame before capture, unless the pool has a limit for the
    /// wait of sources.
    case block
    case drop
    case fail
  }

  package static let defaultCapacity = 8

  package var id: String
  /// The number of buffers; for an adaptive pool, the initial number.
  package var capacity: Int
  package var policy: Policy
  /// How the pool adapts to the load; `nil` = its size is fixed.
  package var adaptive: PoolSizing?
  /// How long a source's frame waits for a buffer; `nil` = not at all.
  package var wait: Duration?
  /// Frames that the camera's driver keeps while a frame of its source waits.
  package var driverFrames: Int
  /// Whether the memory of `capacity` frames is made before the first frame. It changes no
  /// decision.
  package var isPreallocated: Bool

  package init(
    id: String, capacity: Int = PipelinePool.defaultCapacity, policy: Policy = .block,
    adaptive: PoolSizing? = nil,
    wait: Duration? = nil, driverFrames: Int = 0, isPreallocated: Bool = false
  ) {
    self.id = id
    self.capacity = capacity
    self.policy = policy
    self.adaptive = adaptive
    self.wait = wait
    self.driverFrames = driverFrames
    self.isPreallocated = isPreallocated
  }

  /// The smallest number of buffers that the pool can have.
  package var fewest: Int { adaptive?.smallest ?? capacity }

  /// The same pool with a fixed number of buffers.
  package func fixed(at capacity: Int) -> PipelinePool {
    PipelinePool(
      id: id, capacity: capacity, policy: policy, wait: wait, driverFrames: driverFrames,
      isPreallocated: isPreallocated)
  }
}
