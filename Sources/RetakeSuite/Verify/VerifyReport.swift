import RetakeCore

/// What `retake verify` found out about one case.
public struct VerifyReport: Hashable, Sendable, Codable {
  /// One way of running the case again.
  public struct Variation: Hashable, Sendable, Codable {
    /// In words, such as `4 workers, random delays`.
    public var name: String
    public var workers: Int
    public var decisionDigest: Digest128
    public var resultDigest: Digest128
    public var divergence: Divergence?
  }

  /// The first place at which a variation differs from the first run.
  public struct Divergence: Hashable, Sendable, Codable {
    public enum Kind: String, Hashable, Sendable, Codable {
      /// A stage gave another value for the same input.
      case value
      /// Virtual time decided otherwise: always a defect of the engine.
      case decision
      /// A sink was told something else although all stages agree.
      case result
    }

    public var kind: Kind
    public var frame: FrameID?
    /// The stage, or for decisions the node.
    public var stage: String?
    public var message: String
  }

  public var v = 1
  public var session: String?
  public var caseName: String
  public var frames: Int
  public var decisionDigest: Digest128
  public var resultDigest: Digest128
  public var variations: [Variation]

  public var isDeterministic: Bool { variations.allSatisfy { $0.divergence == nil } }

  /// The earliest divergence of all variations: by frame, then by the order of the variations.
  public var firstDivergence: Divergence? {
    variations.compactMap(\.divergence).min {
      ($0.frame?.sequence ?? .max) < ($1.frame?.sequence ?? .max)
    }
  }

  private enum CodingKeys: String, CodingKey {
    case v, session, caseName = "case", frames, decisionDigest, resultDigest, variations
  }
}
