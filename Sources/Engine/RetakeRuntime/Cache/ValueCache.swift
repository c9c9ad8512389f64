package import RetakeBuffers
package import RetakeCore

/// Stores values of a run for later runs: pixels of frames, and outputs of pure stages, keyed by
/// their inputs. Thread-safe. Affects the speed of a run only.
package protocol ValueCache: Sendable {
  /// Digest of everything that code, libraries and processor may change in a stage's output.
  var codeDigest: Digest128 { get }

  /// A digest of the stored data that a source's frame is decoded from; `nil` if the frame has to
  /// be decoded first.
  ///
  /// - Throws: The reader's error if the stored bytes are not as recorded.
  func key(of frame: FrameID) throws -> Digest128?

  /// The record stored under a key.
  func record(_ key: Digest128, track: Int) -> CachedRecord?
  func keep(_ record: CachedRecord, under key: Digest128, track: Int)

  /// Whether pixels with this digest are stored.
  func hasPixels(_ digest: Digest128, track: Int) -> Bool
  /// The frame with its stored pixels, checked against its digest; `nil` if they are missing or
  /// were changed.
  func frame(_ outline: FrameOutline, track: Int) -> Frame?
  func keepPixels(of frame: Frame, track: Int)

  /// Called for each value that was found, or that had to be computed or decoded.
  func count(isKnown: Bool)
  /// Called for a value that was counted as known but had to be computed or decoded after all.
  func countComputedAfterAll()
}

/// A value as the cache stores it.
package enum CachedRecord: Hashable, Sendable {
  /// Everything but the pixels, which are stored separately.
  case frame(FrameOutline)
  /// The bytes that its `ValueForm` writes.
  case value([UInt8])
}
