package import RetakeBuffers
import RetakeCore

/// One run of a pipeline, as the bodies of its stages see it: whether it still needs their values,
/// and the receiver of notices, which change no result.
package final class StageRun: Sendable {
  private let over = Locked(false)
  private let tell: @Sendable (StageNotice) -> Void
  /// Where stages lease the memory of their frames; `nil` means the heap.
  package let memory: RunMemory?
  /// The tracks of a replay, for whole programs.
  package let tracks: [RunTrack]

  /// - Parameter tell: Called on the thread of the body.
  package init(
    memory: RunMemory? = nil, tracks: [RunTrack] = [],
    _ tell: @escaping @Sendable (StageNotice) -> Void = { _ in }
  ) {
    (self.memory, self.tracks, self.tell) = (memory, tracks, tell)
  }

  /// Whether the run was halted or has failed, so that no value is used any more. A body that waits
  /// for something may return at once, with any outcome.
  package var isOver: Bool { over.withLock { $0 } }

  package func end() { over.withLock { $0 = true } }

  package func note(_ notice: StageNotice) { tell(notice) }
}

extension StageContext {
  /// Tells the run, if there is one.
  package func note(_ kind: StageNotice.Kind, code: String, _ message: String) {
    run?.note(
      StageNotice(
        kind,
        StageFailure(frame: frame, item: item, node: node, code: code, message: message)))
  }
}
