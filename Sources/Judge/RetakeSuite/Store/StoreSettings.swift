/// How a project uses stores of sessions.
package struct StoreSettings: Sendable {
  /// The most bytes of the local cache by default: 32 GiB.
  package static let cacheBytesDefault: Int64 = 32 << 30

  /// Where `retake store push` sends sessions; `remote` of `store` in retake.yml.
  package var remote: String?
  /// The most bytes of the sessions in the local cache; `cacheLimit` of `store` in retake.yml.
  package var cacheBytes = Self.cacheBytesDefault
  /// Whether sessions that are not in the local cache are an error.
  package var isOffline = false
  package var isInterrupted: @Sendable () -> Bool = { false }
  /// Called with the work, the bytes that were moved and their total; at the end with the total.
  package var progress: @Sendable (String, Int64, Int64) -> Void = { _, _, _ in }
}
