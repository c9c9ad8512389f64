/// A camera's noise as a function of seed, frame, plane, row and block of eight bytes. It does not
/// use a shared random stream, so any part can be computed alone.
package struct CameraNoise {
  private let key: UInt64

  package init(seed: UInt64, frame: UInt64) {
    key = Self.mix(Self.mix(seed &+ Self.step) ^ (frame &* 0xd1b5_4a32_d192_ed03))
  }

  /// A random number for the frame.
  var draw: UInt64 { Self.mix(key ^ 0x5851_f42d_4c95_7f2d) }

  /// The key of one row; the keys of its blocks follow in steps of `step`.
  package func rowKey(plane: Int, y: Int, purpose: UInt64 = 0) -> UInt64 {
    // The fields do not overlap, so that each row, plane and purpose has a separate key.
    Self.mix(key ^ (UInt64(y) << 8 | UInt64(plane) << 4 | purpose))
  }

  /// 2^64 divided by the golden ratio: a Weyl sequence.
  static let step: UInt64 = 0x9e37_79b9_7f4a_7c15

  /// The finalizer of SplitMix64 (Steele, Lea, Flood 2014, with Stafford's constants).
  @inline(__always)
  static func mix(_ value: UInt64) -> UInt64 {
    var z = value
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
