import RetakeMedia

/// The checksum of MCAP, taken over several parts: CRC-32 of ISO 3309, as in gzip and PNG.
struct CRC32 {
  private(set) var value: UInt32 = 0

  static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 { CyclicChecksum.png(bytes) }

  mutating func update(with bytes: ArraySlice<UInt8>) {
    value = CyclicChecksum.png(bytes, after: value)
  }
}
