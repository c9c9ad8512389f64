import RetakeCore
import RetakeRuntime

/// How fast a session's first frames are read and decoded one after another, by one thread: a figure for
/// people, which decides nothing.
struct DecodeRate {
  /// Frames that are looked at.
  static let framesMax = 200
  /// After so long a pass ends, whatever was read.
  private static let nanosecondsMax: Int64 = 1_500_000_000
  /// Of each session, in turns; the fastest counts.
  private static let passes = 2

  /// Frames that were read in a pass, of both sessions the fewer.
  private(set) var frames = 0
  private(set) var originalFramesPerSecond = 0.0
  private(set) var copyFramesPerSecond = 0.0

  /// How many times as fast is faster: less may be the machine's noise.
  private static let gainMin = 1.1

  /// The copy is read no faster, as far as was looked.
  var isNoGain: Bool {
    frames > 0 && copyFramesPerSecond < Self.gainMin * originalFramesPerSecond
  }

  init(frames: Int, originalFramesPerSecond: Double, copyFramesPerSecond: Double) {
    self.frames = frames
    self.originalFramesPerSecond = originalFramesPerSecond
    self.copyFramesPerSecond = copyFramesPerSecond
  }

  /// Sessions that cannot be read have the rate 0.
  init(original: SessionFolder, copy: SessionFolder) {
    frames = Self.framesMax
    for _ in 0..<Self.passes {
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
      // Damaged ones are in both.
      if (try? reader.frame(FrameID(track: track.track, sequence: sequence))) != nil { frames += 1 }
      nanoseconds = clock.monotonicNanoseconds - start
    }
    return (frames, nanoseconds > 0 ? Double(frames) * 1e9 / Double(nanoseconds) : 0)
  }
}
