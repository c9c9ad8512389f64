import RetakeCore

/// Random numbers that are a pure function of their purpose: no stream, no order.
package enum Draw {
  package enum Purpose: UInt64, Sendable {
    case cost = 1
    case perturbation = 2
    /// A choice of a bootstrap.
    case resample = 3
  }

  /// 64 evenly distributed bits: the finalizer of SplitMix64 (Steele, Lea, Flood, 2014) over
  /// `seed`, the node's hash, sequence, item and purpose, each mixed into the last.
  package static func bits(
    seed: UInt64, node: UInt64, sequence: Int, item: Int, purpose: Purpose
  ) -> UInt64 {
    var state = mix(seed)
    state = mix(state ^ node)
    state = mix(state ^ UInt64(bitPattern: Int64(sequence)))
    state = mix(state ^ UInt64(bitPattern: Int64(item)))
    return mix(state ^ purpose.rawValue)
  }

  /// The low half of the XXH3-128 digest of a node's ID.
  package static func hash(ofNode id: String) -> UInt64 { Digest128(of: id).low }

  private static func mix(_ value: UInt64) -> UInt64 {
    var z = value &+ 0x9e37_79b9_7f4a_7c15
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
