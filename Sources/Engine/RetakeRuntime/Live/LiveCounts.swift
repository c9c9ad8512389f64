public import RetakeCore

/// Counts of the frames of a live run so far.
public struct LiveCounts: Hashable, Sendable {
  /// At the primary sink. Frames in flight are counted as captured, and have no other count yet.
  public var ledger = FrameLedger()
  /// Frames that arrived while a block edge of the source was full or its pool was empty.
  public var lostBeforeCapture = 0
  /// Frames that arrived faster than the decision loop could handle them, or after `stop`.
  public var refused = 0
  /// Counts of each track that a source reads; `refused` frames count as lost.
  public var tracks: [RunOutcome.TrackCounts] = []
  /// Results that were not read in time.
  public var resultsDropped = 0
  /// Counts of the pools that adapt to the load.
  public var pools: [PoolCounts] = []
  /// Counts of the sources where frames have waited for a buffer.
  package var waits: [WaitCounts] = []
  /// Events that were handled: frames, ends of bodies, changes of the device, commands and timers.
  package var externalEvents = 0
  /// The number of decision lines.
  public var decisions = 0

  package init() {}
}
