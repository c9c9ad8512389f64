/// The frames of a source, one after another. Only one thread at a time uses it.
public protocol FrameStream: AnyObject {
  /// The next frame; nil at the end.
  ///
  /// - Throws: When the source is lost; the recorder then finishes the session. `MissedFrame` when
  ///   there was not enough memory for this frame.
  func next() throws -> SourceFrame?

  /// The next frame, or an event of the source in the meantime. A live source returns from this
  /// call within half a second, so that the recorder can end.
  ///
  /// - Throws: As `next()` does, except for missed frames.
  func item() throws -> SourceItem

  /// Discards the frames that arrived since the last request, so that the next one is new.
  func discardWaiting()

  /// The recorder makes no further requests.
  func close()
}

extension FrameStream {
  /// Calls `next()`. By default, a source has frames, missed frames and an end, but no notes.
  public func item() throws -> SourceItem {
    do {
      return try next().map(SourceItem.frame) ?? .end
    } catch let missed as MissedFrame {
      return .missed(missed)
    }
  }

  /// By default, has no effect: only a live source has waiting frames.
  public func discardWaiting() {}
  /// By default, has no effect.
  public func close() {}
}
