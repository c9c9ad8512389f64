package import RetakeCore
package import RetakeGraph

/// A request of the core to its driver. The driver receives requests in the order of the core's
/// decisions.
package enum Action: Hashable, Sendable {
  /// A frame or item of a batch, and the time at which it arrived.
  package struct Start: Hashable, Sendable {
    package var work: Work
    package var ready: Int64
  }

  /// The frame was admitted at a source.
  case captured(slot: Int)
  /// The frame was lost before capture; the slot is free again after this action.
  case lost(slot: Int)
  /// A server begins to serve the frame or item, which arrived at the time `ready`. The driver
  /// computes the body and reports when it will be done.
  case start(node: Int, work: Work, ready: Int64)
  /// A server begins to serve these frames or items together, in this order.
  case startBatch(node: Int, [Start])
  /// A node without cost passes its input on unchanged.
  case pass(node: Int, slot: Int)
  /// The value of the frame in another slot replaces the failed value.
  case fallback(node: Int, slot: Int, from: Int)
  /// A frame enters the body of a forEach.
  case fanOut(node: Int, slot: Int, items: Int)
  case gather(node: Int, slot: Int)
  /// A frame continues with the values of these ports, as bits.
  case join(node: Int, slot: Int, ports: UInt32)
  /// A frame continues with the values of these slots at the ports after the first; −1 = no value.
  case latest(node: Int, slot: Int, from: [Int])
  case deliver(sink: Int, slot: Int)
  case end(sink: Int, slot: Int, FrameFate, node: Int)
  /// A stage, source or pool failed; reported once.
  case report(node: Int, work: Work, StageError)
  /// Everything about the frame is decided: no more work for it will start.
  case settled(slot: Int)
  /// No value of the frame is held any more; the slot is free again after this action.
  case freed(slot: Int)
  /// The swap with this index is in force for the frames that arrive from now on.
  case swapped(index: Int)
  /// An unrecoverable failure, which was reported before. The run ends here.
  case halt(node: Int, work: Work)
}
