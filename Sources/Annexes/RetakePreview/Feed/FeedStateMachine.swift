import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// Decides which of the offered frames a preview accepts, as a semaphore of two. One frame waits
/// while another is drawn; a third frame is dropped, never queued.
struct FeedStateMachine: Hashable, Sendable {
  enum Verdict: String, Hashable, Sendable {
    case taken, dropped, throttled
  }

  /// One frame waits and one is drawn. A source with a pool of three still has one buffer to fill.
  static let heldMax = 2

  /// Frames that were taken and are not finished.
  private(set) var held = 0
  private var throttle: ThrottleStateMachine
  private(set) var device = DeviceState()
  private let policy: DevicePolicy

  init(_ policy: DevicePolicy) {
    self.policy = policy
    throttle = ThrottleStateMachine(framesPerSecond: policy)
  }

  /// - Parameter time: The time of the offer, in nanoseconds. Frames are throttled first: a frame
  ///   that is not due is not shown, even if the window is idle.
  mutating func offer(at time: Int64) -> Verdict {
    guard throttle.passes(at: time) else { return .throttled }
    guard held < Self.heldMax else { return .dropped }
    held += 1
    return .taken
  }

  /// A taken frame has been shown on the screen, or never will be.
  mutating func done() {
    precondition(held > 0, "only a frame that was taken is done")
    held -= 1
  }

  mutating func apply(_ event: DeviceEvent) {
    device.apply(event)
    _ = throttle.changeRate(intervalNanoseconds: policy.intervalNanoseconds(in: device))
  }
}
