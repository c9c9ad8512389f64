public import RetakeCore
import RetakeMedia

/// A frame that was lost for lack of memory, or because it could not be decoded; later frames may
/// follow. A `FrameStream` throws it if it returns only frames.
public struct MissedFrame: Error, Hashable, Sendable {
  /// On the source's time line; nil when unknown.
  public var timestamp: Timestamp?
  /// In the source's time base.
  public var pts: Int64?
  /// The number of the source's track.
  public var track: Int
  /// The cause in the frame's row.
  var cause = RecordCause.shedMemory

  /// Thrown by `FrameStream.next()`. The recorder adds a row without pixels for the frame, with the
  /// cause `record.shed.memory`.
  public init(timestamp: Timestamp?, pts: Int64?, track: Int = 0) {
    (self.timestamp, self.pts, self.track) = (timestamp, pts, track)
  }

  /// A packet without a picture.
  init(refused packet: MediaPacket, _ error: MediaError, of stream: MediaStream, track: Int = 0) {
    self.init(
      timestamp: packet.pts.flatMap { Timestamp(pts: $0, timeBase: stream.timeBase) },
      pts: packet.pts, track: track)
    cause = error.isOutOfMemory ? RecordCause.shedMemory : error.code
  }

  var isAboutMemory: Bool { cause == RecordCause.shedMemory }
}
