/// The size and the shape of pixels in the last sequence header of MPEG-1 and MPEG-2.
///
/// FFmpeg's decoder starts again where they change, and forgets the picture that it still holds, so
/// the caller has to drain it there.
struct SequenceShape: Hashable, Sendable {
  private var header: [UInt8]?

  static func mayChange(codec: String) -> Bool { ["mpeg1video", "mpeg2video"].contains(codec) }

  /// - Returns: whether the packet begins a sequence of another size or shape than the sequence
  ///   before.
  mutating func changes(at packet: MediaPacket) -> Bool {
    guard let next = packet.withBytes({ Self.header(in: $0) }) else { return false }
    defer { header = next }
    return header.map { $0 != next } ?? false
  }

  /// ITU-T H.262, 6.2.2.1: after the start code B3 follow width and height in 12 bits each, then
  /// the aspect ratio in 4. The header comes before the packet's picture, whose start code is 00.
  private static func header<Bytes: RandomAccessCollection>(
    in bytes: Bytes
  ) -> [UInt8]? where Bytes.Element == UInt8, Bytes.Index == Int {
    var zeros = 0
    for place in bytes.indices.dropLast(5) {
      if zeros >= 2, bytes[place] == 1 {
        switch bytes[place + 1] {
        case 0xB3:
          return [bytes[place + 2], bytes[place + 3], bytes[place + 4], bytes[place + 5] & 0xF0]
        case 0: return nil
        default: break
        }
      }
      zeros = bytes[place] == 0 ? zeros + 1 : 0
    }
    return nil
  }
}
