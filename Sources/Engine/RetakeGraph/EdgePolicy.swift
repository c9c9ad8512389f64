import RetakeCore

/// What an edge does with a frame when it has no room.
public enum EdgePolicy: String, Hashable, Sendable, CaseIterable, Codable {
  /// The sender keeps the frame until there is room; a source loses it before capture.
  case block
  case dropNewest
  case dropOldest
  /// A newer frame replaces the frame that waits; capacity 1.
  case replace
}
