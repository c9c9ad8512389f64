import DequeModule
import RetakeBuffers
import RetakeGraph

/// A frame whose values may already be computed before it arrives in virtual time.
struct AheadFrame {
  var entry: FrameEntry
  var time: Int64
  /// The lowest sequence that may still arrive after it.
  var lowestToCome: Int
  /// By node; only the source and the pure stages downstream.
  var futures: [ValueFuture?]
  /// The epoch whose stages computed them.
  var epoch: Int
  /// Frames without payload between the previous frame and this frame.
  var missingBefore = 0
}

/// One source of a running pipeline: its frames, how far ahead they are computed, and the order in
/// which its reader has to be called.
struct SourceState {
  let node: Int
  let reader: any FrameReader
  let track: Int
  let outline: RunTrack
  var schedule: ArrivalSchedule
  var ahead: Deque<AheadFrame> = []
  /// Frames without payload before the announced frames. The number does not depend on how far
  /// ahead frames are read.
  var announcedMissing = 0
  /// The last read of each chain, which may not have finished.
  private var chainTails: [Int: ValueFuture] = [:]
  private var sweepCount = sweepCountMin
  /// The smallest number of tails at which finished tails are removed. Each tail may hold a frame.
  private static let sweepCountMin = 2

  /// - Throws: The reader's errors for its index.
  init(node: Int, reader: any FrameReader, track: Int, schedule: ArrivalSchedule) throws {
    self.node = node
    self.reader = reader
    self.track = track
    outline = try ArrivalSchedule.outline(of: track, in: reader)
    self.schedule = schedule
  }

  /// `nil` if the reader no longer knows the track.
  var description: TrackDescription? { reader.tracks.first { $0.track == track } }

  /// The read that the chain's next read has to wait for.
  func tail(ofChain chain: Int) -> ValueFuture? { chainTails[chain] }

  /// Finished tails no longer order later reads. They hold pixels, so they are released in time.
  mutating func setTail(_ read: ValueFuture, ofChain chain: Int) {
    chainTails[chain] = read
    guard chainTails.count >= sweepCount else { return }
    chainTails = chainTails.filter { !$0.value.isDone }
    sweepCount = max(Self.sweepCountMin, 2 * chainTails.count)
  }
}
