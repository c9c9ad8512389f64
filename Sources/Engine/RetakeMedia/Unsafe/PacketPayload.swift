import CFFmpeg

/// The bytes and side data of one packet, immutable after its `MediaPacket` is made.
final class PacketPayload: @unchecked Sendable {
  // SAFETY: @unchecked because pointers are not Sendable. Only this object owns the packet; it is
  // written only before it is shared, and freed once, in deinit.
  let pointer: UnsafeMutablePointer<AVPacket>

  /// An empty packet that a demuxer or an encoder fills.
  ///
  /// - Throws: `MediaError.noMemory`.
  init() throws {
    pointer = try FFmpeg.allocated(av_packet_alloc(), "read a packet")
  }

  /// Memory for `size` bytes and the padding that bit readers need; nil if the size is more than
  /// FFmpeg supports, or the allocation fails.
  init?(size: Int) {
    pointer = FFmpeg.required(av_packet_alloc())
    guard size >= 0, let count = Int32(exactly: size), av_new_packet(pointer, count) >= 0 else {
      return nil
    }
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVPacket>? = pointer
    av_packet_free(&pointer)
  }

  var size: Int { Int(pointer.pointee.size) }

  func fill(_ body: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
    // SAFETY: the packet holds `size` bytes, and is not shared yet.
    try body(UnsafeMutableRawBufferPointer(start: pointer.pointee.data, count: size))
  }

  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    // SAFETY: the packet holds `size` bytes and lives as long as this object.
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(start: pointer.pointee.data, count: size))
  }

  var isEncrypted: Bool {
    // SAFETY: the library reads the packet's own side data.
    av_packet_get_side_data(pointer, AV_PKT_DATA_ENCRYPTION_INFO, nil) != nil
  }

  var sideData: [UInt8]? {
    let count = Int(pointer.pointee.side_data_elems)
    guard count > 0, let elements = pointer.pointee.side_data else { return nil }
    var result: [UInt8] = []
    // SAFETY: the packet holds `count` elements, each of `size` bytes.
    for element in UnsafeBufferPointer(start: elements, count: count) {
      append(UInt32(element.type.rawValue), to: &result)
      append(UInt32(element.size), to: &result)
      result.append(contentsOf: UnsafeBufferPointer(start: element.data, count: element.size))
    }
    return result
  }

  /// The inverse of `sideData`; false when the bytes are malformed.
  func append(sideData bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      guard rest.count >= 8 else { return false }
      let type = number(rest.prefix(4))
      let size = Int(number(rest.dropFirst(4).prefix(4)))
      rest = rest.dropFirst(8)
      guard rest.count >= size, type < AV_PKT_DATA_NB.rawValue,
        let memory = av_packet_new_side_data(pointer, AVPacketSideDataType(type), size)
      else { return false }
      // SAFETY: the library made `size` bytes for this element.
      UnsafeMutableRawBufferPointer(start: memory, count: size).copyBytes(from: rest.prefix(size))
      rest = rest.dropFirst(size)
    }
    return true
  }

  private func append(_ value: UInt32, to bytes: inout [UInt8]) {
    for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(shift))) }
  }

  private func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
