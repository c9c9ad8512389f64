import Foundation
import RetakeCore

/// A place where a file's timestamps do not simply increase, and how the session handles it.
package struct TimePlace: Hashable, Sendable, Codable {
  package enum Kind: String, Hashable, Sendable, Codable {
    /// Time goes back; it continues by one frame.
    case back
    /// A 33-bit clock wrapped around or was reset: time continues by one frame.
    case wrap
    /// Time jumps forward; the gap is kept.
    case gap
    /// Frames after one with a later time; each gets the time of the previous frame.
    case late
    /// Frames whose time is ahead of the frames that follow, which continue as before; it is
    /// computed from the previous frame.
    case odd
    /// Frames without a time; it is computed from the frame duration.
    case missing
  }

  package var kind: Kind
  package var track: Int
  /// Sequence of the first affected frame.
  package var frame: Int
  /// Number of affected frames; for `late` and `odd`, in the entire track.
  package var frames: Int
  /// How far time goes back or jumps, in the file; 0 for the others.
  package var nanoseconds: Int64

  /// Human-readable, without a full stop.
  package var text: String {
    let by = Duration.nanoseconds(nanoseconds).roundedText
    let which = frames == 1 ? "frame \(frame) has" : "\(frames) frames from frame \(frame) on have"
    let what =
      switch kind {
      case .back: "time goes back by \(by) at frame \(frame); it continues by one frame there"
      case .wrap:
        "timestamps jump by \(by) at frame \(frame) (33-bit wrap-around); time continues by one "
          + "frame there"
      case .gap: "time leaps forward by \(by) at frame \(frame); the gap is kept"
      case .late:
        frames == 1
          ? "frame \(frame) has an earlier time than the frame before; it gets the time of that frame"
          : "\(frames) frames, the first of them frame \(frame), have an earlier time than the frame "
            + "before; each gets the time of that frame"
      case .odd:
        frames == 1
          ? "frame \(frame)'s time is out of order; it is counted from the frame before"
          : "the times of \(frames) frames, the first of them frame \(frame), are out of order; each "
            + "is counted from the frame before"
      case .missing: "\(which) no time; it is counted by the length of a frame"
      }
    return "track \(track): \(what)"
  }
}
