import RetakeBuffers
import RetakeCore

/// A frame whose pixels are not there before somebody asks for them, or not any more after all who ask
/// have had them.
package final class LaterFrame: Sendable {
  private struct State: Sendable {
    var made: ValueOutcome?
    /// Who is still to come; `nil` keeps the pixels.
    var readsLeft: Int?
  }

  /// All but the pixels, where it is known without them.
  private let knownOutline: FrameOutline?
  private let state: Locked<State>
  private let make: @Sendable () -> ValueOutcome

  /// - Parameters:
  ///   - made: The frame, if it is there already.
  ///   - outline: Of the frame that `make` gives.
  ///   - reads: How often it is asked for in the way of things; after that its pixels go.
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

  /// The frame, made by whoever asks first; the others wait for it. What it is made of was there
  /// before it, so nobody waits in a circle.
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

  /// Everybody who reads the frame in the way of things has finished.
  func releasePixels() {
    let made = state.withLock { state -> ValueOutcome? in
      guard state.readsLeft != nil else { return nil }
      defer { (state.made, state.readsLeft) = (nil, nil) }
      return state.made
    }
    // What is released here may free pixels: not under the lock.
    withExtendedLifetime(made) {}
  }

  package var digest: Digest128? { knownOutline?.digest ?? frame?.digest }

  /// Of all that a stage may know of the frame.
  var inputDigest: Digest128? {
    (knownOutline ?? frame.map { FrameOutline($0) })?.inputDigest
  }

  /// The frame if it is there; nobody's turn to read it.
  private var frame: Frame? {
    guard case .value(let value)? = state.withLock({ $0.made }) else { return nil }
    return value as? Frame
  }
}

extension ValueOutcome {
  /// The same frame, which goes after so many reads; any other outcome, and one that is read by others
  /// too, as it is.
  func lasting(
    _ reads: Int?, again make: @escaping @Sendable () -> ValueOutcome
  ) -> ValueOutcome {
    guard let reads, reads > 0, case .value(let value) = self, value is Frame else { return self }
    return .later(LaterFrame(self, reads: reads, make: make))
  }
}
