import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeRuntime

/// One connection to a live source. One thread at a time uses it; it ends when it is let go.
protocol LiveConnection: AnyObject, Sendable {
  /// The next frame, waited for; nil at the end of the stream.
  ///
  /// - Throws: When the source is lost, or `CallLimit` says that it took too long; `MissedFrame` when
  ///   there was no memory for this one.
  func next() throws -> SourceFrame?
}

/// Tells whoever waits inside a call when it is over.
final class CallLimit: Sendable {
  private struct State: Sendable {
    /// nil when no call is under way.
    var startedNanoseconds: Int64?
    var isCancelled = false
  }

  private let clock: any LiveClock
  private let nanosecondsMax: Int64
  private let isInterrupted: @Sendable () -> Bool
  private let state = Locked(State())
  /// Rings when the caller shall stop waiting.
  let cancelled = Bell()

  /// FFmpeg lets go within a tenth of a second.
  ///
  /// - Parameter isInterrupted: Asked while a call waits; true ends it.
  init(
    clock: any LiveClock, nanosecondsMax: Int64 = 5_000_000_000,
    isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) {
    (self.clock, self.nanosecondsMax, self.isInterrupted) = (clock, nanosecondsMax, isInterrupted)
  }

  /// Marks the time that `body` takes.
  func during<Result>(_ body: () throws -> Result) rethrows -> Result {
    let now = clock.monotonicNanoseconds
    state.withLock { $0.startedNanoseconds = now }
    defer { state.withLock { $0.startedNanoseconds = nil } }
    return try body()
  }

  func cancel() {
    state.withLock { $0.isCancelled = true }
    cancelled.ring()
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

  /// Waits for so long, or until it is cancelled.
  func wait(nanoseconds: Int64) {
    clock.wait(untilNanoseconds: clock.monotonicNanoseconds + nanoseconds, or: cancelled)
  }
}

/// A camera, stream or test picture, decoded.
final class InputConnection: LiveConnection, @unchecked Sendable {
  // @unchecked: one thread at a time uses it, by the protocol's rule.
  let stream: MediaStream
  private let input: LiveInput
  private let decoder: MediaDecoder
  private let limit: CallLimit
  private var ready: ArraySlice<DecodedFrame> = []
  private var failures = 0
  private var recent = RecentPackets()
  private var hasEnded = false
  private var misses = 0

  /// Packets in a row that cannot be decoded, as at the beginning of a stream without a key frame.
  private static let failuresMax = 300
  /// Frames in a row that there is no memory for: a few seconds of them.
  private static let missesMax = 100
  /// A frame's time, before the next one is asked for.
  private static let missNanoseconds: Int64 = 33_000_000
  /// Between two questions to a camera that has no frame yet.
  private static let pauseNanoseconds: Int64 = 4_000_000

  /// - Throws: `MediaError`, one case for each way in which a source can be unfit.
  init(_ address: LiveAddress, camera: CameraSettings, limit: CallLimit) throws {
    self.limit = limit
    input = try LiveInput(address, camera: camera) { limit.isOver }
    stream = try input.videoStream
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
    frame.original = recent.original(decoded.packetIndex, stream: stream)
    return frame
  }

  private func read() throws {
    switch try nextPacket() {
    case .none: limit.wait(nanoseconds: Self.pauseNanoseconds)
    case .end:
      hasEnded = true
      ready = try decoder.decode(nil)[...]
    case .packet(let packet):
      guard packet.stream == stream.index else { return }
      recent.add(packet)
      do {
        ready = try decoder.decode(packet)[...]
        failures = 0
      } catch {
        if error.isOutOfMemory { throw missed(packet) }
        failures += 1
        guard failures < Self.failuresMax, !error.isLasting else { throw error }
      }
    }
  }

  /// A camera does not stop because there was no memory for a picture.
  private func nextPacket() throws -> LiveInput.Outcome {
    do throws(MediaError) {
      let outcome = try input.nextPacket()
      misses = 0
      return outcome
    } catch {
      misses += 1
      guard error.isOutOfMemory, misses < Self.missesMax else { throw error }
      limit.wait(nanoseconds: Self.missNanoseconds)
      throw MissedFrame(timestamp: nil, pts: nil)
    }
  }

  private func missed(_ packet: MediaPacket) -> MissedFrame {
    let time = packet.pts.flatMap { Timestamp(pts: $0, timeBase: stream.timeBase) }
    return MissedFrame(timestamp: time, pts: packet.pts)
  }
}
