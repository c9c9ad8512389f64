public import RetakeCore

/// The digest of a stage's output for one frame.
public enum NodeDigest: Hashable, Sendable {
  case value(Digest128)
  /// The stage failed; the digest is of its code.
  case failed(Digest128)
  case notRun
}
