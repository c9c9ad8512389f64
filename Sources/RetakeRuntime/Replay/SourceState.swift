import DequeModule
import RetakeCore
import RetakeGraph

/// A frame that the value plane may already work on, before it arrives in virtual time.
struct AheadFrame {
  var entry: FrameEntry
  var time: Int64
  /// By node; only the source and the pure stages behind it.
  var futures: [ValueFuture?]
  /// The epoch whose stages computed them.
  var epoch: Int
  /// Frames without payload between this frame and the one before.
  var missingBefore = 0
}

/// One source of a running pipeline: its frames, how far ahead they are computed, and the order in
/// which its reader wants to be asked.
struct SourceState {
  let node: Int
  let reader: any FrameReader
  let track: Int
  var schedule: ArrivalSchedule
  var ahead: Deque<AheadFrame> = []
  /// Frames without payload before those that were announced: the same however far is read ahead.
  var announcedMissing = 0
  /// The last read of each chain that may still be going on.
  private var chainTails: [Int: ValueFuture] = [:]
  private var sweepCount = sweepCountMin
  /// The least number of tails at which finished ones are looked for; each may hold a frame.
  private static let sweepCountMin = 2

  init(node: Int, reader: any FrameReader, track: Int, schedule: ArrivalSchedule) {
    self.node = node
    self.reader = reader
    self.track = track
    self.schedule = schedule
  }

  /// `nil` for a reader that does not know the track any more.
  var description: TrackDescription? { reader.tracks.first { $0.track == track } }

  /// The read that the next one of this chain has to wait for.
  func tail(ofChain chain: Int) -> ValueFuture? { chainTails[chain] }

  /// Tails that are done order nothing any more and are let go in time: they hold pixels.
  mutating func setTail(_ read: ValueFuture, ofChain chain: Int) {
    chainTails[chain] = read
    guard chainTails.count >= sweepCount else { return }
    chainTails = chainTails.filter { !$0.value.isDone }
    sweepCount = max(Self.sweepCountMin, 2 * chainTails.count)
  }
}
