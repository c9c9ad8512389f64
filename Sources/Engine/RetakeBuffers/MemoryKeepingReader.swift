/// A reader whose frames are in memory that it uses again.
package protocol MemoryKeepingReader: FrameReader {
  /// Keeps memory for at most this many frames that no one uses. It changes the speed only.
  func keepMemory(forFrames count: Int)
}
