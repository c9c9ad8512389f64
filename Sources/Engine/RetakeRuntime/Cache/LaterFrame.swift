package import RetakeBuffers
package import RetakeCore

/// A frame whose pixels are made at the first read. They may be released again after the last
/// expected read.
package final class LaterFrame: Sendable {
  private struct State: Sendable {
    var made: ValueOutcome?
    /// Reads that are still expected; `nil` keeps the pixels.
    var readsLeft: Int?
  }

  /// Everything but the pixels, if it is known without them.
  private let knownOutline: FrameOutline?
  private let state: Locked<State>
  private let make: @Sendable () -> ValueOutcome

  /// - Parameters:
  ///   - made: The frame, if it exists already.
  ///   - outline: The outline of the frame that `make` returns.
  ///   - reads: How often the frame is read in a normal run. After that its pixels are released.
  ///   - make: Makes the frame, or makes it again.
  package init(
    _ made: ValueOutcome? = nil, outline: FrameOutline? = nil, reads: Int? = nil,
    make: @escaping @Sendable () -> ValueOutcome
  ) {
    precondition(made != nil || outline != nil, "something is known of a frame")
    knownOutline = outline
    self.make = make
    state = Locked(State(made: made, readsLeft: reads))
  }

  /// The frame. The first caller makes it, and the others wait. Its inputs exist before it does, so
  /// the waits cannot form a cycle.
  package var outcome: ValueOutcome {
    state.withLock { state in
      let outcome = state.made ?? make()
      state.made = outcome
      if let left = state.readsLeft {
        state.readsLeft = left > 1 ? left - 1 : nil
        if left <= 1 { state.made = nil }
      }
      return outcome
    }
  }

  /// Called when all expected reads of the frame have finished.
  func releasePixels() {
    let made = state.withLock { state -> ValueOutcome? in
      guard state.readsLeft != nil else { return nil }
      defer { (state.made, state.readsLeft) = (nil, nil) }
      return state.made
    }
    // Releasing the value may free pixels, which must not happen under the lock.
    withExtendedLifetime(made) {}
  }

  package var digest: Digest128? { knownOutline?.digest ?? frame?.digest }

  /// Digest of everything that a stage can see of the frame.
  var inputDigest: Digest128? {
    (knownOutline ?? frame.map { FrameOutline($0) })?.inputDigest
  }

  /// The frame if it exists; does not count as a read.
  private var frame: Frame? {
    guard case .value(let value)? = state.withLock({ $0.made }) else { return nil }
    return value as? Frame
  }
}

extension ValueOutcome {
  /// The same frame, released after a given number of reads. Any other outcome, and a frame that is
  /// also read by others, is returned unchanged.
  func lasting(
    _ reads: Int?, again make: @escaping @Sendable () -> ValueOutcome
  ) -> ValueOutcome {
    guard let reads, reads > 0, case .value(let value) = self, value is Frame else { return self }
    return .later(LaterFrame(self, reads: reads, make: make))
  }
}
