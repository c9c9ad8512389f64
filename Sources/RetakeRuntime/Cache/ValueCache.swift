import RetakeBuffers
import RetakeCore

/// What a run keeps for later runs: frames' pixels, and the outputs of pure stages by what they were
/// computed of. Safe from any thread. It changes the speed of a run and nothing else.
package protocol ValueCache: Sendable {
  /// Of everything that code, libraries and processor may change about a stage's output.
  var codeDigest: Digest128 { get }

  /// What a source's frame is made of, as one digest; `nil` where only decoding can tell.
  ///
  /// - Throws: What the reader throws for stored bytes that are not as recorded.
  func key(of frame: FrameID) throws -> Digest128?

  /// What was kept under a key.
  func record(_ key: Digest128, track: Int) -> CachedRecord?
  func keep(_ record: CachedRecord, under key: Digest128, track: Int)

  /// Whether pixels of this digest are kept.
  func hasPixels(_ digest: Digest128, track: Int) -> Bool
  /// The frame with its kept pixels, held against its digest; `nil` where they are not there or not
  /// what they were.
  func frame(_ outline: FrameOutline, track: Int) -> Frame?
  func keepPixels(of frame: Frame, track: Int)

  /// Told of each value that was there, or had to be computed or decoded.
  func count(isKnown: Bool)
  /// Told of a value that was counted as known and had to be computed or decoded after all.
  func countComputedAfterAll()
}

/// What is kept of one value.
package enum CachedRecord: Hashable, Sendable {
  /// All but the pixels, which have a place of their own.
  case frame(FrameOutline)
  /// As its `ValueForm` writes it.
  case value([UInt8])
}
