import RetakeBuffers
import RetakeMedia
import RetakeRuntime

/// A camera (`/dev/video0`) or a stream (`rtsp://HOST/PATH`, also http, https, rtp and udp).
///
/// A source that is unplugged or falls silent is retried with increasing delays, and the session
/// records when it was away. Redirects are not followed.
public struct LiveSource: RecordingSource {
  /// The stream's track, as the first connection reported it.
  public let description: SourceDescription
  private let plan: LiveStream.Plan
  /// The connection that the description was read from. The first call of `open()` uses it.
  private let first: Locked<First?>

  private struct First: Sendable {
    var connection: any LiveConnection
    var limit: CallLimit
  }

  /// Connects.
  ///
  /// - Parameters:
  ///   - address: `/dev/video0`, or a URL such as `rtsp://HOST/PATH`.
  ///   - camera: The size and rate that a camera is asked for.
  ///   - patience: A source that is away for longer ends the recording; nil waits forever. A short
  ///     one also bounds the first connection.
  ///   - isInterrupted: Polled while connecting; true ends that.
  /// - Throws: `MediaError`, with one case for each way in which a source can be unsuitable;
  ///   `RecordError.stoppedBefore`.
  public init(
    _ address: String, camera: CameraRequest = .init(), patience: Duration? = nil,
    isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) throws {
    guard let place = try LiveAddress(parsing: address), place.isLive else {
      throw MediaError.badAddress(address: address)
    }
    let settings = camera.settings
    let clock = WallClock()
    let attempt = ConnectionAttempt(place.name, patience: patience, clock: clock, isInterrupted)
    let limit = attempt.limit
    let connection = try attempt.run { try InputConnection(place, camera: settings, limit: $0) }
    let stream = connection.stream
    description = SourceDescription(
      name: place.name, tracks: [SourceTrack(stream)], isLive: true)
    plan = LiveStream.Plan(
      connect: { try InputConnection(place, camera: settings, limit: $0) },
      timeBase: stream.timeBase,
      limits: SourceWatch.Limits(
        framesPerSecond: description.framesPerSecond, patience: patience), clock: clock)
    first = Locked(First(connection: connection, limit: limit))
  }

  /// Uses the first connection if it is still unused, or else connects again.
  public func open() throws -> any FrameStream {
    let first = self.first.withLock { first in
      defer { first = nil }
      return first
    }
    return try LiveStream(plan, first: first?.connection, limit: first?.limit)
  }
}
