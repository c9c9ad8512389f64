import RetakeCore
import RetakeStore

/// What a writer knows of one track: its segments are files of their own, so that nothing that
/// happens to one track begins another segment of a second one.
struct TrackLane {
  let track: Int
  var segments: SegmentStateMachine
  var current: SegmentFile?
  var currentIsCommitted = false
  /// Why the current segment was begun.
  var reason: String?
  var nextPacket = 0
  var committedPackets = 0
  var keyPacket = 0
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

/// Over (sequence, packet hash) of every committed frame with pixels.
final class PacketDigest {
  private var hasher = DigestHasher()

  func append(_ sequence: Int, _ packet: Digest128) {
    hasher.append(sequence)
    hasher.append(packet)
  }

  /// So far.
  var value: Digest128 { hasher.finish() }
}
