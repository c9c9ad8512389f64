import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeRuntime

/// Pictures that FFmpeg draws, such as `testsrc2=size=640x480:rate=30`, each at its own time.
public struct TestPictureSource: RecordingSource {
  public let description: SourceDescription
  private let address: LiveAddress

  /// - Parameter graph: One chain of FFmpeg's filters, a picture source first.
  /// - Throws: `MediaError.badTestPicture` or `.noDevices`.
  public init(_ graph: String) throws {
    guard let address = try LiveAddress(parsing: "lavfi:\(graph)") else {
      throw MediaError.badTestPicture(graph: graph, cause: "it is empty")
    }
    self.address = address
    let stream = try Self.connect(address).stream
    description = SourceDescription(
      name: address.name, timeBase: stream.timeBase,
      framesPerSecond: stream.averageFrameRate?.framesPerSecond)
  }

  public func open() throws -> any FrameStream {
    ConnectionStream(try Self.connect(address))
  }

  private static func connect(_ address: LiveAddress) throws -> InputConnection {
    try InputConnection(
      address, camera: CameraSettings(), limit: CallLimit(clock: WallClock()))
  }
}

private final class ConnectionStream: FrameStream {
  private let connection: InputConnection

  init(_ connection: InputConnection) {
    self.connection = connection
  }

  func next() throws -> SourceFrame? { try connection.next() }
}
