import RetakeCore
import RetakeRuntime
import RetakeSession

/// Measures how fast a session's first frames are read and decoded in order by one thread. The
/// result is only shown; no decision depends on it.
struct DecodeRate {
  /// Maximum number of frames that are read.
  static let framesMax = 200
  /// Time limit of a pass.
  private static let nanosecondsMax: Int64 = 1_500_000_000
  /// Passes per session, alternating; the fastest one counts.
  private static let passes = 2

  /// Number of frames read in a pass; the smaller one of both sessions.
  private(set) var frames = 0
  private(set) var originalFramesPerSecond = 0.0
  private(set) var copyFramesPerSecond = 0.0

  /// Minimum speedup that counts as faster; a smaller one may be noise.
  private static let gainMin = 1.1

  /// Whether the copy was not measured to be faster.
  var isNoGain: Bool {
    frames > 0 && copyFramesPerSecond < Self.gainMin * originalFramesPerSecond
  }

  init(frames: Int, originalFramesPerSecond: Double, copyFramesPerSecond: Double) {
    self.frames = frames
    self.originalFramesPerSecond = originalFramesPerSecond
    self.copyFramesPerSecond = copyFramesPerSecond
  }

  /// A session that cannot be read has the rate 0.
  init(original: SessionFolder, copy: SessionFolder) {
    frames = Self.framesMax
    for _ in 0..<Self.passes {
      // Both in each pass, so that a passing load of the machine does not meet only one of them.
      let (first, second) = (Self.pass(original), Self.pass(copy))
      originalFramesPerSecond = max(originalFramesPerSecond, first.framesPerSecond)
      copyFramesPerSecond = max(copyFramesPerSecond, second.framesPerSecond)
      frames = min(frames, first.frames, second.frames)
    }
  }

  private static func pass(_ folder: SessionFolder) -> (frames: Int, framesPerSecond: Double) {
    guard let reader = try? SessionReader(folder, options: ReadOptions()),
      let track = reader.tracks.first
    else { return (0, 0) }
    let clock = WallClock()
    let start = clock.monotonicNanoseconds
    var (frames, nanoseconds) = (0, Int64(0))
    for sequence in 0..<min(framesMax, track.frameCount) where nanoseconds < nanosecondsMax {
      // Damaged frames are damaged in both sessions.
      if (try? reader.frame(FrameID(track: track.track, sequence: sequence))) != nil { frames += 1 }
      nanoseconds = clock.monotonicNanoseconds - start
    }
    return (frames, nanoseconds > 0 ? Double(frames) * 1e9 / Double(nanoseconds) : 0)
  }
}
