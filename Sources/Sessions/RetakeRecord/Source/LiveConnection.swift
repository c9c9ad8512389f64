import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeRuntime

/// One connection to a live source. Only one thread at a time uses it; releasing it ends it.
protocol LiveConnection: AnyObject, Sendable {
  /// Waits for the next frame; nil at the end of the stream.
  ///
  /// - Throws: When the source is lost, or `CallLimit` reports that it took too long; `MissedFrame`
  ///   when there was not enough memory for this frame.
  func next() throws -> SourceFrame?
}

/// Limits how long a call may block, and lets another thread cancel it.
final class CallLimit: Sendable {
  private struct State: Sendable {
    /// nil when no call is in progress.
    var startedNanoseconds: Int64?
    var isCancelled = false
  }

  private let clock: any LiveClock
  private let nanosecondsMax: Int64
  private let isInterrupted: @Sendable () -> Bool
  private let state = Locked(State())
  /// Rings when the caller should stop waiting.
  let cancelled = ThreadCondition()

  /// FFmpeg returns within a tenth of a second after the limit is reached.
  ///
  /// - Parameter isInterrupted: Polled while a call waits; true ends the call.
  init(
    clock: any LiveClock, nanosecondsMax: Int64 = 5_000_000_000,
    isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) {
    (self.clock, self.nanosecondsMax, self.isInterrupted) = (clock, nanosecondsMax, isInterrupted)
  }

  /// Measures the duration of `body`.
  func during<Result>(_ body: () throws -> Result) rethrows -> Result {
    let now = clock.monotonicNanoseconds
    state.withLock { $0.startedNanoseconds = now }
    defer { state.withLock { $0.startedNanoseconds = nil } }
    return try body()
  }

  func cancel() {
    state.withLock { $0.isCancelled = true }
    cancelled.signal()
  }

  var startedNanoseconds: Int64? { state.withLock { $0.startedNanoseconds } }
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  var isOver: Bool {
    if isInterrupted() { return true }
    let now = clock.monotonicNanoseconds
    return state.withLock {
      $0.isCancelled || $0.startedNanoseconds.map { now - $0 >= nanosecondsMax } ?? false
    }
  }

  /// Waits for this long, or until it is cancelled.
  func wait(nanoseconds: Int64) {
    clock.wait(untilNanoseconds: clock.monotonicNanoseconds + nanoseconds, or: cancelled)
  }
}

/// A camera, stream or test image, decoded.
final class InputConnection: LiveConnection, @unchecked Sendable {
  // @unchecked: the protocol allows only one thread at a time.
  let stream: MediaStream
  private let input: LiveInput
  private let decoder: MediaDecoder
  private let limit: CallLimit
  private var ready: ArraySlice<DecodedFrame> = []
  private var failures = 0
  private var recent = RecentPackets()
  private var watch: DamageWatch
  private var hasEnded = false
  private var misses = 0
  /// A stream may begin between key frames; packets before its first picture do not count.
  private var hasBegun = false

  /// Undecodable packets in a row, for example when a stream begins without a key frame.
  private static let failuresMax = 300
  /// Frames in a row that may fail for lack of memory: a few seconds.
  private static let missesMax = 100
  /// Pause before the next frame is requested: the duration of a frame.
  private static let missNanoseconds: Int64 = 33_000_000
  /// Interval for polling a camera that has no frame yet.
  private static let pauseNanoseconds: Int64 = 4_000_000

  /// - Throws: `MediaError`, with one case for each way in which a source can be unsuitable.
  init(_ address: LiveAddress, camera: CameraSettings, limit: CallLimit) throws {
    self.limit = limit
    input = try LiveInput(address, camera: camera) { limit.isOver }
    stream = try input.videoStream
    watch = DamageWatch(stream)
    decoder = try MediaDecoder(stream: stream, file: address.name, converts: true)
  }

  func next() throws -> SourceFrame? {
    while ready.isEmpty {
      guard !hasEnded else { return nil }
      guard !limit.isOver else { throw MediaError.timedOut(address: input.address.name) }
      try read()
    }
    let decoded = ready.removeFirst()
    var frame = SourceFrame(
      frame: decoded.frame, pts: decoded.bestEffortTimestamp, duration: decoded.duration)
    frame.original = recent.original(of: decoded, stream: stream)
    frame.cause = watch.cause(of: decoded)
    hasBegun = true
    return frame
  }

  private func read() throws {
    switch try nextPacket() {
    case .none: limit.wait(nanoseconds: Self.pauseNanoseconds)
    case .end:
      hasEnded = true
      watch.add(nil)
      ready = try decoder.decode(nil)[...]
      watch.add(decoder.takeReports())
    case .packet(let packet):
      guard packet.stream == stream.index else { return }
      recent.add(packet)
      watch.add(packet)
      do {
        ready = try decoder.decode(packet)[...]
        watch.add(decoder.takeReports())
        failures = 0
      } catch {
        if !error.isOutOfMemory { watch.refused(packet, error) }
        if error.isOutOfMemory { throw MissedFrame(refused: packet, error, of: stream) }
        failures += 1
        guard failures < Self.failuresMax, !error.isLasting else { throw error }
        if hasBegun { throw MissedFrame(refused: packet, error, of: stream) }
      }
    }
  }

  /// A camera continues even if an allocation for one frame fails.
  private func nextPacket() throws -> LiveInput.Outcome {
    do {
      let outcome = try input.nextPacket()
      misses = 0
      return outcome
    } catch let error as MediaError {
      misses += 1
      guard error.isOutOfMemory, misses < Self.missesMax else { throw error }
      // Without a pause, 100 misses would be used up before any memory could be freed.
      limit.wait(nanoseconds: Self.missNanoseconds)
      throw MissedFrame(timestamp: nil, pts: nil)
    }
  }
}
