/// Where the frames that one stage makes get their memory.
package struct FrameSupply: Sendable {
  let pool: FramePool
  /// The ID of the stage's node; leases are counted under it.
  let stage: String

  package init(_ pool: FramePool, stage: String) {
    (self.pool, self.stage) = (pool, stage)
  }

  /// Whether the stage is computed in a replay or a reproduction. When it is computed there depends
  /// on the machine, so no pool may refuse it a buffer: that would be a decision of the machine.
  var isVirtual: Bool { pool.isVirtual }

  /// The supply of the work of this thread; `nil` outside of a run.
  static var current: FrameSupply? { FrameShortage.supply }

  /// Makes the frames of `body` in the memory of a supply. A lack of memory is not checked.
  package static func using<Value>(
    _ supply: FrameSupply?, _ body: () throws -> Value
  ) rethrows -> Value {
    try FrameShortage.unchecked(in: supply, body)
  }
}
