import RetakeCore
import RetakeMedia

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
    frame.firstField = decoded.firstField
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
