import CFFmpeg
package import RetakeCore

/// One packet as the container delivers it. Copying a packet does not copy its bytes.
package struct MediaPacket: Sendable {
  package struct Flags: OptionSet, Hashable, Sendable {
    package var rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let key = Flags(rawValue: 1)
    /// Decoded, but not shown: before the start of an edit list.
    package static let discard = Flags(rawValue: 4)
    /// The container marks the bytes as incomplete.
    package static let corrupt = Flags(rawValue: 2)
  }

  /// The stream's index in the container.
  package var stream: Int
  /// Counted from 0 on its stream, in the container's order.
  package var index: Int
  package var pts: Int64?
  package var dts: Int64?
  /// In units of the time base; 0 when unknown.
  package var duration: Int64
  package var flags: Flags
  /// The position of the bytes according to the container. It may be wrong: compare digests.
  package var offset: Int64?
  let payload: PacketPayload

  /// Size in bytes.
  package var size: Int { payload.size }
  /// XXH3-128 of the payload alone.
  package var digest: Digest128 { payload.withBytes { Digest128(of: $0) } }
  /// Whether a key is needed to decode it.
  package var isEncrypted: Bool { payload.isEncrypted }
  /// All side data in the packet's order, each as type, size (32 bits, little-endian) and bytes.
  package var sideData: [UInt8]? { payload.sideData }

  /// Maximum size that FFmpeg supports, including padding.
  private static let sizeMax = Int(Int32.max) - Int(retake_input_padding) - 1

  /// A packet made of stored bytes: `fill` writes exactly `size` bytes into new memory.
  ///
  /// - Throws: The errors of `fill`, or `MediaError.decode` when the side data is malformed or
  ///   FFmpeg does not support the size, or `.noMemory`.
  package init(
    stream: Int, index: Int, pts: Int64?, dts: Int64?, duration: Int64 = 0, flags: Flags,
    offset: Int64? = nil, size: Int, sideData: [UInt8]? = nil,
    fill: (UnsafeMutableRawBufferPointer) throws -> Void
  ) throws {
    guard let payload = PacketPayload(size: size) else {
      guard (0...Self.sizeMax).contains(size) else {
        throw MediaError.decode(
          packet: index, file: nil, cause: "there is no memory for its \(size) bytes")
      }
      throw MediaError.noMemory(step: "read a packet of \(size) bytes", file: nil)
    }
    try payload.fill(fill)
    if let sideData, !payload.append(sideData: sideData) {
      throw MediaError.decode(packet: index, file: nil, cause: "its side data is malformed")
    }
    self.stream = stream
    self.index = index
    self.pts = pts
    self.dts = dts
    self.duration = duration
    self.flags = flags
    self.offset = offset
    self.payload = payload
  }

  /// A packet made of the given bytes.
  package init(
    stream: Int = 0, index: Int, pts: Int64?, dts: Int64?, duration: Int64 = 0,
    flags: Flags = .key, bytes: [UInt8]
  ) throws {
    try self.init(
      stream: stream, index: index, pts: pts, dts: dts, duration: duration, flags: flags,
      size: bytes.count
    ) { (memory: UnsafeMutableRawBufferPointer) in memory.copyBytes(from: bytes)
    }
  }

  init(_ payload: PacketPayload, index: Int) {
    // SAFETY: the payload owns the packet; plain numbers are copied out of it.
    let packet = payload.pointer.pointee
    stream = Int(packet.stream_index)
    self.index = index
    pts = packet.pts.presentationTime
    dts = packet.dts.presentationTime
    duration = packet.duration
    flags = Flags(ffmpeg: packet.flags)
    offset = packet.pos >= 0 ? packet.pos : nil
    self.payload = payload
  }

  /// Calls `body` with the payload, which must not escape.
  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
    -> Result
  {
    try payload.withBytes(body)
  }

  package var bytes: [UInt8] { payload.withBytes { Array($0) } }
}

extension MediaPacket.Flags {
  init(ffmpeg flags: Int32) {
    self = []
    if flags & retake_packet_key != 0 { insert(.key) }
    if flags & retake_packet_discard != 0 { insert(.discard) }
    if flags & retake_packet_corrupt != 0 { insert(.corrupt) }
  }

  var ffmpeg: Int32 {
    (contains(.key) ? retake_packet_key : 0) | (contains(.discard) ? retake_packet_discard : 0)
      | (contains(.corrupt) ? retake_packet_corrupt : 0)
  }
}
