/// Options for reading a session.
public struct ReadOptions: Hashable, Sendable {
  let verifiesPixels: Bool
  let poisonsMemory: Bool
  let framesPerChain: Int?
  let idleDecodersMax: Int
  let decoderThreads: Int

  /// Ends the process if `framesPerChain`, `idleDecodersMax` or `decoderThreads` is below 1.
  ///
  /// - Parameters:
  ///   - verifiesPixels: Compare each frame's pixels with the stored digest; a difference is an
  ///     error.
  ///   - poisonsMemory: Fill decoder memory with 0xA5 before use, so that a result which depends on
  ///     old pixels is noticed.
  ///   - framesPerChain: A new chain begins at the first self-contained frame after this many
  ///     frames; `nil` makes each track one chain.
  ///   - idleDecodersMax: Maximum number of decoders that are kept for the next frame; more may be
  ///     in use at once.
  ///   - decoderThreads: FFmpeg's own threads in a decoder of a track with long chains. Pixels that
  ///     differ from the stored digest are decoded again with one thread.
  public init(
    verifiesPixels: Bool = true, poisonsMemory: Bool = false, framesPerChain: Int? = 24,
    idleDecodersMax: Int = 4, decoderThreads: Int = 1
  ) {
    precondition(framesPerChain ?? 1 > 0, "a chain has frames")
    precondition(idleDecodersMax >= 1 && decoderThreads >= 1, "a reader decodes")
    self.verifiesPixels = verifiesPixels
    self.poisonsMemory = poisonsMemory
    self.framesPerChain = framesPerChain
    self.idleDecodersMax = idleDecodersMax
    self.decoderThreads = decoderThreads
  }
}
