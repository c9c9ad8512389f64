/// How deep samples become 8 bits.
package enum ToneMap: String, Hashable, Sendable, Codable, CaseIterable {
  /// Each sample is shifted and rounded to the nearest.
  case none
  /// The samples are HDR with the transfer of SMPTE ST 2084 (PQ), as in HDR10.
  case pq
  /// The samples are HDR with hybrid log-gamma (HLG), as phones record it.
  case hlg
}
