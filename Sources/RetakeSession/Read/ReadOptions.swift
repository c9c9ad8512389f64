/// How a session is read.
public struct ReadOptions: Hashable, Sendable {
  /// Each frame's pixels are compared with their stored digest; ones that differ are an error.
  public var verifiesPixels: Bool
  /// Decoder memory is filled with 0xA5 before use, so that a result which hangs on old pixels
  /// shows.
  public var poisonsMemory: Bool
  /// A new chain begins at the first self-contained frame after so many frames; nil makes each
  /// track one chain.
  public var framesPerChain: Int?
  /// Decoders that are kept for the next frame; more may be in use at once.
  public var idleDecodersMax: Int
  /// FFmpeg's own threads in each decoder.
  public var decoderThreads: Int

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
