import CFFmpeg

/// The opacity of VP8 and VP9, which containers keep as an addition to each packet. FFmpeg's own
/// decoders leave it out.
package enum PacketOpacity {
  package static func mayHave(codec: String) -> Bool { ["vp8", "vp9"].contains(codec) }

  /// - Parameter sideData: In the form of `MediaPacket.sideData`.
  package static func isIn(_ sideData: [UInt8]) -> Bool {
    var rest = sideData[...]
    while rest.count >= 8 {
      let (type, size) = (number(rest.prefix(4)), number(rest.dropFirst(4).prefix(4)))
      let content = rest.dropFirst(8).prefix(size)
      // The addition's number in eight bytes, big-endian; 1 is opacity, others are not.
      if type == Int(AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL.rawValue), content.count > 8,
        content.prefix(8).elementsEqual([0, 0, 0, 0, 0, 0, 0, 1])
      {
        return true
      }
      rest = rest.dropFirst(8 + size)
    }
    return false
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}
