/// How an edge treats a frame that arrives at a full queue.
public enum EdgePolicy: String, Hashable, Sendable, CaseIterable, Codable {
  /// The sender keeps the frame until the queue has a free place; a source loses it before capture.
  case block
  case dropNewest
  case dropOldest
  /// A newer frame replaces the frame that waits; capacity 1.
  case replace
}
