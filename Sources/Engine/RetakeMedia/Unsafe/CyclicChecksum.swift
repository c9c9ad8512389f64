import CFFmpeg

/// The 32-bit checksums of containers, all of the polynomial 0x04C11DB7, computed by FFmpeg.
package enum CyclicChecksum {
  /// The checksum of a page of Ogg (RFC 3533, 6), whose own four bytes count as zero. The result
  /// has the order of bytes of the file, first byte highest.
  package static func ogg(_ page: [UInt8]) -> UInt32 {
    update(0, with: page[...], AV_CRC_32_IEEE)
  }

  /// The checksum of a chunk's name and content (PNG, 5.5), taken over several parts.
  ///
  /// - Parameter state: Nil for the first part, then the result of the part before.
  package static func png(_ part: ArraySlice<UInt8>, after state: UInt32? = nil) -> UInt32 {
    ~update(~(state ?? 0), with: part, AV_CRC_32_IEEE_LE)
  }

  private static func update(
    _ register: UInt32, with bytes: ArraySlice<UInt8>, _ kind: AVCRCId
  ) -> UInt32 {
    // SAFETY: the library's table is constant, and it reads exactly the bytes of the slice.
    bytes.withUnsafeBufferPointer {
      av_crc(av_crc_get_table(kind), register, $0.baseAddress, $0.count)
    }
  }
}
