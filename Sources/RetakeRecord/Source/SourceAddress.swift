import RetakeCore
import RetakeMedia

/// Sources by the name that people type, where it is not a file's.
public enum SourceAddress {
  /// `/dev/video0` or `v4l2:DEVICE`, a stream's URL, or `lavfi:GRAPH`.
  ///
  /// - Parameters:
  ///   - camera: What a camera is asked for.
  ///   - patience: A live source that is away for longer ends the recording; nil waits for ever.
  ///   - isInterrupted: Asked while it connects; true ends that.
  /// - Returns: nil when the text is none of these.
  /// - Throws: `MediaError`, one case for each way in which a source can be unfit;
  ///   `RecordError.stoppedBefore`.
  public static func source(
    _ text: String, camera: CameraRequest = .init(), patience: Duration? = nil,
    isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) throws -> (any RecordingSource)? {
    switch try LiveAddress(parsing: text) {
    case nil: nil
    case .test(let graph): try TestPictureSource(graph)
    case .camera, .stream:
      try LiveSource(text, camera: camera, patience: patience, isInterrupted: isInterrupted)
    }
  }

  /// Whether the text names a camera, which can be asked for a size and a rate.
  public static func isCamera(_ text: String) -> Bool {
    if case .camera = try? LiveAddress(parsing: text) { true } else { false }
  }

  /// A session's name for the source: the device, the host, the test picture. nil as above.
  ///
  /// - Throws: `MediaError`, when the text is an address but not a good one.
  public static func sessionName(_ text: String) throws -> String? {
    switch try LiveAddress(parsing: text) {
    case nil: nil
    case .test(let graph): String(graph.prefix { $0.isLetter || $0.isNumber })
    case .camera(let device): device.split(separator: "/").last.map(String.init) ?? "camera"
    case .stream(let stream): "\(stream.scheme.rawValue)-\(stream.host)"
    }
  }
}
