/// Whether decoding may begin at a packet.
package enum DecodingStart: Hashable, Sendable {
  /// The packet and all that follow decode exactly.
  case exact
  /// A recovery point of H.264: it has the flag of a key packet, and the pictures after it become
  /// exact only after a while, because they refer to pictures before it (intra refresh).
  case recovery
  case never

  package init(of packet: MediaPacket, in stream: MediaStream) {
    guard packet.flags.contains(.key) else {
      self = .never
      return
    }
    // ITU-T H.264, 7.4.1.2.4: only an instantaneous decoding refresh (IDR) forgets every picture
    // before it. HEVC's and other codecs' key packets do the same.
    self =
      stream.codec == "h264" && Self.firstSlice(of: packet, in: stream) == 1 ? .recovery : .exact
  }

  /// The type of the first NAL unit that has a slice: 5 of an IDR picture, 1 of another.
  private static func firstSlice(of packet: MediaPacket, in stream: MediaStream) -> UInt8? {
    let header = stream.extradata
    // ISO/IEC 14496-15, 5.3.3.1: version 1, and the length of the lengths in the fifth byte.
    let lengthBytes = header.first == 1 && header.count > 4 ? Int(header[4] & 3) + 1 : nil
    return packet.withBytes { bytes in
      guard let lengthBytes else { return firstSlice(behindStartCodes: bytes) }
      return firstSlice(behindLengths: bytes, of: lengthBytes)
    }
  }

  private static let sliceTypes: ClosedRange<UInt8> = 1...5

  private static func firstSlice<Bytes: RandomAccessCollection>(
    behindLengths bytes: Bytes, of lengthBytes: Int
  ) -> UInt8? where Bytes.Element == UInt8, Bytes.Index == Int {
    var place = bytes.startIndex
    // Ends: each round advances by the length of a unit.
    while place + lengthBytes < bytes.endIndex {
      let length = bytes[place..<place + lengthBytes].reduce(0) { $0 << 8 | Int($1) }
      let type = bytes[place + lengthBytes] & 0x1F
      if sliceTypes.contains(type) { return type }
      place += lengthBytes + max(1, length)
    }
    return nil
  }

  private static func firstSlice<Bytes: RandomAccessCollection>(
    behindStartCodes bytes: Bytes
  ) -> UInt8? where Bytes.Element == UInt8, Bytes.Index == Int {
    var zeros = 0
    for place in bytes.indices.dropLast() {
      let isStart = zeros >= 2 && bytes[place] == 1
      if isStart, sliceTypes.contains(bytes[place + 1] & 0x1F) { return bytes[place + 1] & 0x1F }
      zeros = bytes[place] == 0 ? zeros + 1 : 0
    }
    return nil
  }
}
