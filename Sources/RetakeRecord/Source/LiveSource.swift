import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeRuntime

/// A camera (`/dev/video0`) or a stream (`rtsp://HOST/PATH`, also http, https, rtp and udp).
///
/// A source that is unplugged or falls silent is asked again and again, a little later each time, and
/// the session says when it was away. No redirection is followed.
public struct LiveSource: RecordingSource {
  public let description: SourceDescription
  private let plan: LiveStream.Plan
  /// The connection that the description was read from, for the first one who opens the source.
  private let first: Locked<First?>

  private struct First: Sendable {
    var connection: any LiveConnection
    var limit: CallLimit
  }

  /// Connects.
  ///
  /// - Parameters:
  ///   - patience: A source that is away for longer ends the recording; nil waits for ever. A
  ///     short one also bounds the first connection.
  ///   - isInterrupted: Asked while it connects; true ends that.
  /// - Throws: `MediaError`, one case for each way in which a source can be unfit;
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

  public func open() throws -> any FrameStream {
    let first = self.first.withLock { first in
      defer { first = nil }
      return first
    }
    return try LiveStream(plan, first: first?.connection, limit: first?.limit)
  }
}

/// What is asked of a camera; nil leaves it as it is set.
public struct CameraRequest: Hashable, Sendable {
  /// Pixels; both or none.
  public var width: Int?
  public var height: Int?
  public var framesPerSecond: Int?

  public init(width: Int? = nil, height: Int? = nil, framesPerSecond: Int? = nil) {
    (self.width, self.height, self.framesPerSecond) = (width, height, framesPerSecond)
  }

  var settings: CameraSettings {
    var settings = CameraSettings()
    if let width, let height { settings.size = (width, height) }
    settings.framesPerSecond = framesPerSecond
    return settings
  }
}
