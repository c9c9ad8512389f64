import RetakeMedia
import RetakeRuntime

/// Images that FFmpeg draws, such as `testsrc2=size=640x480:rate=30`, each at its own time.
public struct TestImageSource: RecordingSource {
  /// One track with the time base and the rate of the graph's images.
  public let description: SourceDescription
  private let address: LiveAddress

  /// - Parameter graph: One chain of FFmpeg's filters that begins with an image source.
  /// - Throws: `MediaError.badTestImage` or `.noDevices`.
  public init(_ graph: String) throws {
    guard let address = try LiveAddress(parsing: "lavfi:\(graph)") else {
      throw MediaError.badTestImage(graph: graph, cause: "it is empty")
    }
    self.address = address
    let stream = try Self.connect(address, Self.limit()).stream
    description = SourceDescription(
      name: address.name, timeBase: stream.timeBase,
      framesPerSecond: stream.averageFrameRate?.framesPerSecond)
  }

  /// Starts the graph again from its first image.
  public func open() throws -> any FrameStream {
    let limit = Self.limit()
    return ConnectionStream(try Self.connect(address, limit), limit: limit)
  }

  private static func limit() -> CallLimit { CallLimit(clock: WallClock()) }

  private static func connect(
    _ address: LiveAddress, _ limit: CallLimit
  ) throws -> InputConnection {
    try limit.during {
      try InputConnection(address, camera: CameraSettings(), limit: limit)
    }
  }
}

/// Limits the time of a call: without memory, an image source repeatedly reports that it has no
/// frame yet.
private final class ConnectionStream: FrameStream {
  private let connection: InputConnection
  private let limit: CallLimit

  init(_ connection: InputConnection, limit: CallLimit) {
    (self.connection, self.limit) = (connection, limit)
  }

  func next() throws -> SourceFrame? { try limit.during { try connection.next() } }
}
