import RetakeMedia

/// Resolves the source addresses that users type, other than files.
package enum SourceAddress {
  /// `/dev/video0` or `v4l2:DEVICE`, a stream's URL, or `lavfi:GRAPH`.
  ///
  /// - Parameters:
  ///   - camera: Requested settings of a camera.
  ///   - patience: A live source that is away for longer ends the recording; nil waits forever.
  ///   - isInterrupted: Polled while connecting; true ends that.
  /// - Returns: nil when the string has another form.
  /// - Throws: `MediaError`, with a separate case for each way in which a source can be unsuitable;
  ///   `RecordError.stoppedBefore`.
  package static func source(
    _ text: String, camera: CameraRequest = .init(), patience: Duration? = nil,
    isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) throws -> (any RecordingSource)? {
    switch try LiveAddress(parsing: text) {
    case nil: nil
    case .test(let graph): try TestImageSource(graph)
    case .camera, .stream:
      try LiveSource(text, camera: camera, patience: patience, isInterrupted: isInterrupted)
    }
  }

  /// Whether the string names a camera, whose size and rate can be requested.
  package static func isCamera(_ text: String) -> Bool {
    if case .camera = try? LiveAddress(parsing: text) { true } else { false }
  }

  /// A session name for the source: the device, the host, or the test image. nil as above.
  ///
  /// - Throws: `MediaError`, when the string is an invalid address.
  package static func sessionName(_ text: String) throws -> String? {
    switch try LiveAddress(parsing: text) {
    case nil: nil
    case .test(let graph): String(graph.prefix { $0.isLetter || $0.isNumber })
    case .camera(let device): device.split(separator: "/").last.map(String.init) ?? "camera"
    case .stream(let stream): "\(stream.scheme.rawValue)-\(stream.host)"
    }
  }
}
