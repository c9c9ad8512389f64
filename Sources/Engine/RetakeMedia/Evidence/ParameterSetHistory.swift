/// Whether a decoder that begins at a packet has the same parameter sets as a decoder that decoded
/// all packets before.
struct ParameterSetHistory: Sendable {
  /// Of the container; every decoder has them.
  private let known: Set<[UInt8]>
  /// Other sets of all packets.
  private var others: Set<[UInt8]> = []

  /// A stream with more sets is not followed.
  private static let othersMax = 64

  init(known: [[UInt8]]) { self.known = Set(known) }

  /// - Parameter sets: All of one packet.
  /// - Returns: whether the packet repeats each set that the container lacks.
  mutating func repeatsAll(_ sets: Set<[UInt8]>) -> Bool {
    guard others.count <= Self.othersMax else { return false }
    others.formUnion(sets.subtracting(known))
    return others.isSubset(of: sets)
  }
}
