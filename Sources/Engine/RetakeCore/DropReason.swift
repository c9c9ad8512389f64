/// Why a frame was dropped. Drops are losses; thinning and superseding are by design.
public enum DropReason: String, Hashable, Sendable, Codable, CaseIterable {
  case queue
  case pool
  case timeout
  case partnerMissing
}
