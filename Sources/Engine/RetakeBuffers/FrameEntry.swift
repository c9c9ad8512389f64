public import RetakeCore

/// One row of a frame index: everything that the time plane needs to know about a frame before its
/// pixels are read.
public struct FrameEntry: Hashable, Sendable {
  /// The frame's track and sequence, which identify it in a session.
  public var id: FrameID
  /// In the track's time base; `nil` if the source had no pts.
  public var pts: Int64?
  /// Presentation time on the session's time line, not shifted.
  public var timestamp: Timestamp
  /// When the frame reached the recorder, on the same line; imported frames arrive at their pts.
  public var arrival: Timestamp
  /// A stable code when the frame fails, recoverably, at the source.
  public var damage: String?
  /// The index has the row, but the recorder dropped the pixels. Such a frame has no arrival event
  /// and is counted separately from the ledger.
  public var isPayloadMissing: Bool
  /// XXH3-128 of the packet that the frame came from.
  package var packetDigest: Digest128?
  /// Whether that packet is a key packet; `nil` if it is not known.
  package var isKey: Bool?

  /// Without an `arrival`, the frame arrives at its presentation time, as an imported frame does.
  public init(
    id: FrameID, pts: Int64?, timestamp: Timestamp, arrival: Timestamp? = nil,
    damage: String? = nil, isPayloadMissing: Bool = false, packetDigest: Digest128? = nil
  ) {
    self.id = id
    self.pts = pts
    self.timestamp = timestamp
    self.arrival = arrival ?? timestamp
    self.damage = damage
    self.isPayloadMissing = isPayloadMissing
    self.packetDigest = packetDigest
  }
}
