import RetakeBuffers
import RetakeCore

/// Where a recorder takes its frames from: a scene, a file, a camera.
///
/// A recorder asks from one thread, and asks for the next frame while the last one is waiting for
/// its time.
public protocol RecordingSource: Sendable {
  var description: SourceDescription { get }

  /// Starts from the beginning.
  ///
  /// - Throws: Whatever is wrong with the source, before anything is written.
  func open() throws -> any FrameStream
}

/// What a source says of itself.
public struct SourceDescription: Hashable, Sendable {
  /// For people, such as `synthetic:figures`.
  public var name: String
  /// Of the presentation times.
  public var timeBase: TimeBase
  /// Nominal; nil when nobody knows. The recorder holds its encoder against it.
  public var framesPerSecond: Double?

  public init(name: String, timeBase: TimeBase, framesPerSecond: Double? = nil) {
    self.name = name
    self.timeBase = timeBase
    self.framesPerSecond = framesPerSecond
  }
}

/// The frames of a source, one after another. One thread at a time uses it.
public protocol FrameStream: AnyObject {
  /// The next frame; nil at the end.
  ///
  /// - Throws: When the source is lost; the recorder finishes what it has.
  func next() throws -> SourceFrame?
}

/// A frame as a source gives it.
public struct SourceFrame: Sendable {
  /// Its time stamp is where the frame lies on the source's time line.
  public var frame: Frame
  /// In the source's time base; nil when it gave none.
  public var pts: Int64?
  /// In units of the time base; 0 when unknown.
  public var duration: Int64

  public init(frame: Frame, pts: Int64?, duration: Int64 = 0) {
    self.frame = frame
    self.pts = pts
    self.duration = duration
  }
}

/// When a source's frames reach the recorder.
public enum RecordingPace: String, Hashable, Sendable, Codable, CaseIterable {
  /// Each at its own time, as a camera's would; payload that the encoder has no time for is shed.
  case realtime
  /// As fast as they are encoded; nothing is shed, and the session is the same every time.
  case unpaced
}
