/// Something that happens in virtual time. The type is trivial, so that the heap moves plain words.
package struct Event: Sendable {
  package enum Kind: UInt8, Sendable {
    case arrival
    case completion
    case delivery
    case unblock
    case tombstone
    case dispatch
    case halt
    /// A stage's time is over; `extra` is the slot's generation.
    case stageTimeout
    /// A frame has waited for a batch as long as it may.
    case batchWait
    /// A join's time is over; `extra` is the slot's generation.
    case joinTimeout
    /// A frame has no items.
    case emptyFrame
    /// A latest join reads its other ports.
    case latest
    /// A sink releases the buffers that it kept.
    case holdEnd
    /// An environment event; `extra` is its index.
    case environment
    /// A tick of the heat model ends, or, if `extra` is above 0, the first one begins.
    case heat
    /// A node's policy decides again.
    case policy
    /// A swap is prepared; `extra` is its index.
    case swapPrepare
    /// A swap was prepared, or refused; `extra` is its index.
    case swapReady
    /// A window of an adaptive pool ends; the target is the pool.
    case poolWindow
    /// The device puts pressure on an adaptive pool; `extra` is the kind of pressure.
    case poolPressure
    /// A pool's new buffers are available; `extra` is the size.
    case poolResized
    /// A screen shows the newest image that arrived.
    case vsync
    /// The frame that waits at a source asks for a buffer again.
    case captureAsk
    /// The wait of a frame at its source has reached its limit; `extra` is the slot's generation.
    case captureLimit
  }

  package var key: EventKey
  package var kind: Kind
  /// The node; for dispatch, the executor; for events of a pool, the pool.
  package var target: Int32
  /// The frame's slot, if there is one, and its item.
  package var work: Work
  /// The edge of a delivery or unblock; the index of a tombstone's ending.
  package var extra: Int32

  package init(key: EventKey, kind: Kind, target: Int, work: Work = Work(slot: -1), extra: Int = -1)
  {
    self.key = key
    self.kind = kind
    self.target = Int32(target)
    self.work = work
    self.extra = Int32(truncatingIfNeeded: extra)
  }
}
