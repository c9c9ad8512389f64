import RetakeCore
import RetakeGraph
import RetakeRuntime

/// Which of the offered frames a preview takes: a semaphore of two. One waits while another is drawn;
/// a third one is dropped, never queued.
struct FeedStateMachine: Hashable, Sendable {
  enum Verdict: String, Hashable, Sendable {
    case taken, dropped, thinned
  }

  /// One waits, one is drawn. A source with a pool of three has one more to fill.
  static let heldMax = 2

  /// Frames that were taken and are not done.
  private(set) var held = 0
  private var throttle: ThrottleStateMachine
  private var device = DeviceState()
  private let policy: DevicePolicy

  init(_ policy: DevicePolicy) {
    self.policy = policy
    throttle = ThrottleStateMachine(framesPerSecond: policy)
  }

  /// - Parameter time: Of the offer, in nanoseconds. Frames are thinned first: one that is not due
  ///   would not be shown, however idle the window is.
  mutating func offer(at time: Int64) -> Verdict {
    guard throttle.passes(at: time) else { return .thinned }
    guard held < Self.heldMax else { return .dropped }
    held += 1
    return .taken
  }

  /// A taken frame is on the screen, or never will be.
  mutating func done() {
    precondition(held > 0, "only a frame that was taken is done")
    held -= 1
  }

  mutating func apply(_ event: DeviceEvent) {
    device.apply(event)
    _ = throttle.changeRate(intervalNanoseconds: policy.intervalNanoseconds(in: device))
  }
}
