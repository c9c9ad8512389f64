import RetakeCore

/// The state of a source while its pool has no buffer: its capture thread is blocked with one
/// frame, and the camera's driver keeps the frames that arrive later.
struct CaptureStateMachine: Sendable {
  /// Of the frames that waited here.
  private(set) var counts: WaitCounts
  /// How many frames the driver keeps. The most is `PipelinePool.driverFrames`.
  private let driverFrames: Int
  /// The slot of the frame that waits for a buffer.
  private(set) var inHand: Int?
  /// The start of the current wait, or of the last wait, in nanoseconds.
  private(set) var waitsSince: Int64 = 0
  /// The slots of the frames that the driver keeps, in the order of their arrival.
  private var behind: [Int] = []
  private var isAskPlanned = false

  init(source: String, driverFrames: Int) {
    counts = WaitCounts(source: source)
    self.driverFrames = driverFrames
  }

  /// Whether the capture thread is blocked.
  var isWaiting: Bool { inHand != nil }

  /// All frames that have arrived and are neither captured nor lost.
  var frames: [Int] { (inHand.map { [$0] } ?? []) + behind }

  /// The capture thread waits with this frame.
  mutating func wait(with slot: Int, since time: Int64) {
    precondition(inHand == nil, "a capture thread waits with one frame")
    (inHand, waitsSince) = (slot, time)
  }

  /// A frame arrives while the thread is blocked.
  ///
  /// - Returns: Whether the driver keeps it.
  mutating func keep(_ slot: Int) -> Bool {
    guard behind.count < driverFrames else { return false }
    behind.append(slot)
    return true
  }

  /// The wait has ended, with or without a buffer.
  mutating func endWait() { inHand = nil }

  /// A frame is captured after it waited in the capture thread, in the driver, or in both.
  mutating func noteWaited(nanoseconds: Int64) {
    counts.waited += 1
    counts.nanoseconds += nanoseconds
    counts.nanosecondsMax = max(counts.nanosecondsMax, nanoseconds)
  }

  /// A frame is lost because no buffer came in time, or the driver keeps no more frames.
  mutating func noteLost() { counts.lost += 1 }

  /// The frame that the driver hands over next, if the thread is not blocked.
  mutating func next() -> Int? {
    guard inHand == nil, !behind.isEmpty else { return nil }
    return behind.removeFirst()
  }

  /// - Returns: Whether an event has to be created, in which the frame asks again.
  mutating func requestAsk() -> Bool {
    guard inHand != nil, !isAskPlanned else { return false }
    isAskPlanned = true
    return true
  }

  /// The event of `requestAsk` is handled.
  mutating func beginAsk() { isAskPlanned = false }
}
