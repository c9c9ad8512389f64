import Foundation
import RetakeBuffers
import RetakeStore

/// A frame that waits for the encoder.
struct CapturedFrame: Sendable {
  var record: FrameRecord
  /// nil when it was shed.
  var frame: Frame?
  /// The packet that the frame was decoded from, for presets that store packets.
  var original: OriginalPacket?

  static func bytes(of frame: Frame) -> Int {
    frame.format.visibleBytes(width: frame.width, height: frame.height)
  }
}
