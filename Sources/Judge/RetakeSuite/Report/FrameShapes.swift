import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeSession

/// The shapes of a session's frames. Frames of one track may have several sizes and turns, such as
/// the frames of appended files.
final class FrameShapes {
  /// The shape of each track's first frames.
  let byTrack: [Int: ImageShape]
  private let varyingTracks: Set<Int>
  private let known: [FrameID: ImageShape]
  private let open: () -> SessionReader?
  private lazy var reader = open()

  /// - Parameters:
  ///   - known: The shapes of frames that were decoded.
  ///   - open: Called at most once, and only for a frame of `varyingTracks`.
  init(
    _ tracks: [TrackDescription], varyingTracks: Set<Int>, known: [FrameID: ImageShape] = [:],
    open: @escaping () -> SessionReader?
  ) {
    byTrack = Dictionary(
      tracks.map { ($0.track, ImageShape($0)) }, uniquingKeysWith: { first, _ in first })
    (self.varyingTracks, self.known, self.open) = (varyingTracks, known, open)
  }

  /// `nil` for a frame of an unknown track, or if the session cannot be read any more.
  subscript(_ frame: FrameID) -> ImageShape? {
    if let shape = known[frame] { return shape }
    guard varyingTracks.contains(frame.track) else { return byTrack[frame.track] }
    return (try? reader?.description(of: frame)).map { ImageShape($0) }
  }
}
