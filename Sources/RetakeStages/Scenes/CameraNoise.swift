/// A camera's noise as a function of place: seed, frame, plane, row, block of eight bytes. Nothing
/// is drawn from a shared stream, so any part can be made alone.
struct CameraNoise {
  private let key: UInt64

  init(seed: UInt64, frame: UInt64) {
    key = Self.mix(Self.mix(seed &+ Self.step) ^ (frame &* 0xd1b5_4a32_d192_ed03))
  }

  /// A number for the frame as a whole.
  var draw: UInt64 { Self.mix(key ^ 0x5851_f42d_4c95_7f2d) }

  /// The key of one row; blocks are counted from it in steps of `step`.
  func rowKey(plane: Int, y: Int, purpose: UInt64 = 0) -> UInt64 {
    Self.mix(key ^ (UInt64(y) << 8 | UInt64(plane) << 4 | purpose))
  }

  /// The golden ratio of 64 bits: Weyl's sequence.
  static let step: UInt64 = 0x9e37_79b9_7f4a_7c15

  /// The finaliser of SplitMix64 (Steele, Lea, Flood 2014, with Stafford's constants).
  @inline(__always)
  static func mix(_ value: UInt64) -> UInt64 {
    var z = value
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
