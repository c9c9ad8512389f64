/// A source of frames for a recorder: a scene, a file, a camera.
///
/// A recorder uses one thread, and requests the next frame while the last one waits for its time.
public protocol RecordingSource: Sendable {
  /// Known before `open()`, and always the same: a recorder makes the session's tracks of it, and
  /// names the session after it if the options have no name.
  var description: SourceDescription { get }

  /// Starts from the beginning.
  ///
  /// - Throws: Any error of the source, before anything is written.
  func open() throws -> any FrameStream
}
