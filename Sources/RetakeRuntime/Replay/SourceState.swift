import Collections
import RetakeCore
import RetakeGraph

/// A frame that the value plane may already work on, before it arrives in virtual time.
struct AheadFrame {
  var entry: FrameEntry
  var time: Int64
  /// By node; only the source and the pure stages behind it.
  var futures: [ValueFuture?]
}

/// One source of a running pipeline: its frames, how far ahead they are computed, and the order in
/// which its reader wants to be asked.
struct SourceState {
  let node: Int
  let reader: any FrameReader
  var schedule: ArrivalSchedule
  var ahead: Deque<AheadFrame> = []
  /// The last read of each chain.
  var chainTails: [Int: ValueFuture] = [:]

  init(node: Int, reader: any FrameReader, schedule: ArrivalSchedule) {
    self.node = node
    self.reader = reader
    self.schedule = schedule
  }
}
