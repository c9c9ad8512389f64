import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeSession

/// Stores a source's own packets without encoding them again, so the session has exactly the
/// source's data.
///
/// A packet depends on the packets before it, back to a key packet. If one is missing, the frames
/// up to the next key packet keep their rows without pixels.
final class PacketCopier: PacketMaker {
  private let timeBase: TimeBase
  private var nextEpoch = 0
  private var active: Active?

  private struct Active {
    /// As the source described it.
    var source: MediaStream
    /// Of the epoch's frames.
    var labels: DecodedFact.Labels
    var epoch: StreamEpoch
    var isAnnexB: Bool
    var witness: PixelVerifier
    var timeline = ContainerTimeline()
    /// Index of the packet that was stored last.
    var index: Int
    /// Digest of the key packet that was stored last.
    var key: Digest128?

    /// The packet in the container's form; nil for a packet without bytes, which a decoder would
    /// read as the end of the stream.
    mutating func stored(
      _ original: MediaPacket, at nanoseconds: Int64
    ) throws -> MediaPacket? {
      var packet = original
      if isAnnexB {
        packet = try MediaPacket(
          index: packet.index, pts: packet.pts, dts: packet.dts, flags: packet.flags,
          bytes: AnnexB.lengthPrefixed(packet.bytes))
      }
      guard packet.size > 0 else { return nil }
      let time = timeline.milliseconds(atNanoseconds: nanoseconds)
      // The source's duration is in another time base. 0 is the container's "unknown".
      (packet.stream, packet.pts, packet.dts, packet.duration) = (0, time, time, 0)
      packet.flags = original.flags.contains(.key) ? .key : []
      return packet
    }
  }

  init(timeBase: TimeBase) {
    self.timeBase = timeBase
  }

  func packet(
    of frame: Frame, original: OriginalPacket?, wantsKey: Bool, hasTime: Bool
  ) throws -> EncodedFrame? {
    guard let original else { throw CopyRefusal.noPackets }
    let isKey = original.packet.flags.contains(.key)
    try checkOrder(original.packet, of: original.stream)
    let follows = active?.source == original.stream && active?.index == original.packet.index - 1
    let rollIn = follows ? [] : original.rollIn
    guard isKey || follows || !rollIn.isEmpty else {
      loseReference()
      return nil
    }
    var active = try activated(original, frame, isKey: isKey)
    active.index = original.packet.index
    if isKey { active.key = original.packet.digest }
    let time = frame.timestamp.nanoseconds
    let before = try rollIn.enumerated().compactMap { place, packet in
      // Only the demuxer needs these times, and they have to rise.
      try active.stored(packet, at: time - Int64(rollIn.count - place) * 1_000_000)
    }
    for packet in before { _ = active.witness.sight(of: packet, hasTime: hasTime) }
    guard let packet = try active.stored(original.packet, at: time) else {
      self.active = active
      loseReference()
      return nil
    }
    let sight = active.witness.sight(of: packet, hasTime: hasTime)
    self.active = active
    var encoded = EncodedFrame(epoch: active.epoch, packet: packet, sight: sight, rollIn: before)
    // Two decoders with different memory conceal damage differently.
    if let sight, sight.digest != frame.pixelDigest {
      encoded.doubt = FrameCause.varies
    }
    return encoded
  }

  /// Until the next key packet, no packet follows an earlier packet.
  private func loseReference() {
    // No packet has the index -1.
    active?.index = -2
  }

  /// A new connection counts its packets from 0 and begins with another key packet.
  private func checkOrder(_ packet: MediaPacket, of stream: MediaStream) throws {
    guard let active, active.source == stream, packet.index <= active.index else { return }
    guard !packet.flags.contains(.key) || packet.digest == active.key else { return }
    throw CopyRefusal.shownAgain
  }

  private func activated(
    _ original: OriginalPacket, _ frame: Frame, isKey: Bool
  ) throws -> Active {
    // Only a key packet begins a segment, and labels change only there.
    if let active, active.source == original.stream,
      !isKey || active.labels == DecodedFact.Labels(frame)
    {
      return active
    }
    if let refusal = CopyRefusal.of(original.stream) { throw refusal }
    var stream = original.stream
    if let active, active.source == original.stream {
      // The container describes the first pictures alone.
      (stream.sampleAspect, stream.range, stream.matrix) = (
        frame.sampleAspect, frame.range, frame.matrix
      )
    }
    stream.aspectFollowsPictures = false
    stream.index = 0
    stream.timeBase = timeBase
    (stream.codecTag, stream.bitsPerCodedSample) = (0, 0)
    let isAnnexB = CopyRefusal.isAnnexB(stream)
    if isAnnexB {
      guard let configuration = Self.configuration(of: stream) else {
        throw CopyRefusal.noParameterSets
      }
      stream.extradata = configuration
    }
    let epoch = StreamEpoch(
      number: nextEpoch, stream: stream,
      shape: "\(frame.width)x\(frame.height) \(frame.format.rawValue) \(stream.codec)")
    nextEpoch += 1
    return Active(
      source: original.stream, labels: DecodedFact.Labels(frame), epoch: epoch, isAnnexB: isAnnexB,
      witness: PixelVerifier(stream: stream, memory: ImageMemory(preparation: .marked)),
      index: original.packet.index)
  }

  private static func configuration(of stream: MediaStream) -> [UInt8]? {
    stream.codec == "hevc"
      ? HEVCConfiguration.record(of: stream.extradata) : AnnexB.configuration(stream.extradata)
  }
}
