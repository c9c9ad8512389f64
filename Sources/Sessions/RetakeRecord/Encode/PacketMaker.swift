import RetakeBuffers

/// Makes the packets of one track's frames. One thread at a time uses it.
protocol PacketMaker: AnyObject {
  /// - Parameters:
  ///   - original: The packet that the frame was decoded from, if any.
  ///   - wantsKey: Whether a key frame is needed now.
  ///   - hasTime: Whether there is time to decode the packet for its pixel hash.
  /// - Returns: nil for a frame that depends on a lost one.
  func packet(
    of frame: Frame, original: OriginalPacket?, wantsKey: Bool, hasTime: Bool
  ) throws -> EncodedFrame?
}
