import RetakeCore

/// A store: a folder, or a bucket or another remote that rclone reads and writes.
package enum StoreAddress: Hashable, Sendable {
  /// Relative to the project, or absolute.
  case folder(String)
  /// In rclone's notation: `:s3:bucket/path`.
  case rclone(String)

  /// The notation of rclone for the buckets of a scheme.
  private static let schemes = ["s3://": ":s3:", "gs://": ":gcs:"]

  /// - Returns: `nil` for text that is no address. An address may come from someone else: it contains
  ///   no option of rclone, and no connection string, which may name a program.
  package init?(_ text: String) {
    guard !text.isEmpty, text.utf8.count <= 1_024, text.utf8.allSatisfy({ $0 >= 32 && $0 != 127 })
    else { return nil }
    for (scheme, backend) in Self.schemes where text.hasPrefix(scheme) {
      let parts = text.dropFirst(scheme.count).split(
        separator: "/", omittingEmptySubsequences: false)
      guard parts.allSatisfy({ String($0).isSafeName }) else { return nil }
      self = .rclone(backend + parts.joined(separator: "/"))
      return
    }
    if text.hasPrefix("rclone:") {
      let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3, String(parts[1]).isSafeName, !parts[2].isEmpty else { return nil }
      self = .rclone("\(parts[1]):\(parts[2])")
      return
    }
    guard !text.contains("://"), !text.hasPrefix("-"), !text.hasPrefix(":") else { return nil }
    self = .folder(text)
  }

  package static func rule(_ text: String) -> String {
    "'\(text.shortened)' is not a store: write a folder, s3://BUCKET/PATH, gs://BUCKET/PATH or "
      + "rclone:REMOTE:PATH"
  }
}
