/// One connection to a live source. Only one thread at a time uses it; releasing it ends it.
protocol LiveConnection: AnyObject, Sendable {
  /// Waits for the next frame; nil at the end of the stream.
  ///
  /// - Throws: When the source is lost, or `CallLimit` reports that it took too long; `MissedFrame`
  ///   when there was not enough memory for this frame.
  func next() throws -> SourceFrame?
}
