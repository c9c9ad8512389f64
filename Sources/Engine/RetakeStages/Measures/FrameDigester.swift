package import RetakeBuffers
public import RetakeCore
public import RetakeGraph

/// The digest of a frame as a separate result: it identifies the image without containing it.
///
/// A results sink writes it as `U frame-digest@1 DIGEST128`, with the same digest that the frame
/// itself would have there.
public struct FrameDigest: StageValue, Hashable {
  /// `frame-digest`, the name in result lines.
  public static let typeName = "frame-digest"
  /// 1, the version in result lines.
  public static let typeVersion = 1

  /// XXH3-128 of format, width, height, range, matrix and visible rows.
  public var value: Digest128

  /// The digest of a frame, as `Frame.digest` computes it.
  package init(_ value: Digest128) {
    self.value = value
  }

  /// The 16 bytes of the digest.
  public func encoded() -> [UInt8] { value.bytes }

  /// - Throws: `StageError` unless there are 16 bytes.
  public init(decoding bytes: [UInt8]) throws {
    guard let value = Digest128(bytes: bytes) else {
      throw StageError(code: "digest.length", message: "a frame digest has 16 bytes")
    }
    self.value = value
  }

  /// One fact with the digest, which a results sink writes as a `U` line.
  public var facts: [ResultFact] {
    [.user(kind: "\(Self.typeName)@\(Self.typeVersion)", digest: value)]
  }
}

/// Computes the digest of each frame, and releases the frame.
package struct FrameDigester: PureStage {
  package static let kind = "digest"
  package static let summary = "returns the XXH3-128 digest of each frame"
  package static let inputFormats = PixelFormat.allCases

  package init() {}

  package init(options: NoOptions) {}

  package func process(_ frame: Frame, _ context: StageContext) -> FrameDigest {
    FrameDigest(frame.digest)
  }
}
