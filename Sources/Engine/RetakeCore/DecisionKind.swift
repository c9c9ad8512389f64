/// The kind of a decision. Its raw value is the word in a decision line; docs/decisions.md lists the
/// details of each kind.
public enum DecisionKind: String, Hashable, Sendable, CaseIterable {
  /// The frame is not captured: a queue or a pool of its source is full.
  case lost
  /// The frame waits for a buffer before it is captured.
  case wait
  /// The frame that waited for a buffer is captured.
  case waited
  /// The frame ends: a queue is full, a pool is empty, or a join lacks partners.
  case drop
  /// A newer frame replaced the frame.
  case supersede
  /// The frame is removed by design: by a throttle, a sample or a route.
  case thin
  /// The stage's work on the frame ends with an error.
  case fail
  /// The sender keeps the frame because the queue is full.
  case block
  /// The queue has space again for the frame that its sender kept.
  case unblock
  /// A server begins its work on the frame or item.
  case start
  /// A server ends its work on the frame or item.
  case done
  /// A queue accepts the frame; at a sink, this is its delivery.
  case deliver
  /// The frame ended before this sink.
  case outcome
  /// An unrecoverable failure ends the run.
  case halt
  /// The stage's work on an item of a forEach ends with an error.
  case itemFail
  /// The time limit of a stage or a join is over.
  case timeout
  /// A body or a part of a join arrives after the time limit.
  case late
  /// An earlier value replaces the value of the frame that failed.
  case fallback
  /// A device policy changed the rate of a throttle.
  case throttle
  /// The items of the frame enter a forEach.
  case fanout
  /// All parts of the frame are complete.
  case join
  /// The frames whose newest values a join reads.
  case latest
  /// A new stage is prepared.
  case swapPrepare
  /// A new stage is in force for frames that arrive from now on.
  case swap
  /// A new stage is refused.
  case swapRefused
  /// Frames remain that can never continue; the run ends.
  case stuck
  /// A pool has another number of buffers.
  case resize
  /// Too many requests found no buffer: the pool is large and fixed from now on.
  case breaker
  /// The frame is visible on the screen from this refresh on.
  case vsync
  /// The heat model of the device has reached another state.
  case thermal
}
