import RetakeCore
import RetakeStore

/// A writer's state of one track. Each track has its own segment files, so that an event on one
/// track does not begin a new segment on another.
struct TrackLane {
  let track: Int
  var segments: SegmentStateMachine
  var current: SegmentFile?
  var currentIsCommitted = false
  /// Why the current segment was begun.
  var reason: String?
  var nextPacket = 0
  var committedPackets = 0
  /// The first packet since which no packet was lost: a decoder may come from there.
  var stretch = 0
  let digest = PacketDigest()

  init(track: Int, limits: SegmentStateMachine.Limits) {
    self.track = track
    segments = SegmentStateMachine(limits: limits)
  }

  /// The database's row of the current segment.
  func row(of segment: SegmentFile, isClosed: Bool) -> SegmentRecord {
    SegmentRecord(
      index: segment.index, file: segment.file, startedNanoseconds: segment.startedNanoseconds,
      isClosed: isClosed, bytes: segment.bytes, reason: reason)
  }
}

/// Digest over (sequence, packet hash) of every committed frame with pixels.
final class PacketDigest {
  private var hasher = DigestHasher()

  func append(_ sequence: Int, _ packet: Digest128) {
    hasher.append(sequence)
    hasher.append(packet)
  }

  /// The digest so far.
  var value: Digest128 { hasher.finish() }
}
