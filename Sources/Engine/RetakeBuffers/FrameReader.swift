public import RetakeCore

/// Reads frames by their ID: frames of a session, of a folder, or of a test.
///
/// Several threads use a reader at once, but never for two frames of the same chain.
public protocol FrameReader: Sendable {
  /// In rising order of their track number.
  var tracks: [TrackDescription] { get }

  /// The index rows of a track for a range of sequences, in rising order; sequences that do not
  /// exist are left out.
  func entries(of track: Int, sequences: Range<Int>) throws -> [FrameEntry]

  /// The chain of a frame. Frames of one chain are read one after another, in rising order. Frames
  /// of different chains may be read at the same time.
  func chain(of id: FrameID) -> Int

  /// The exact frame, independent of earlier reads. Reading in rising order is fast.
  ///
  /// - Throws: If the stored bytes do not match the index. A frame whose index row names a damage
  ///   is never requested.
  func frame(_ id: FrameID) throws -> Frame

  /// Events of the device, ordered by time, then by ordinal; times are not shifted.
  func deviceEvents() throws -> [TimedDeviceEvent]

  /// The sensors that were recorded with the frames; `nil`, the default, without sensors.
  var sensorReader: (any SensorReader)? { get }
}

extension FrameReader {
  /// No events.
  public func deviceEvents() throws -> [TimedDeviceEvent] { [] }

  /// `nil`: the reader has no sensors.
  public var sensorReader: (any SensorReader)? { nil }
}
