import RetakeCore

/// The times of a scene's frames.
struct SceneTiming {
  var pts: [Int64]
  var timeBase: TimeBase
  var cutSequence: Int?
  var gapSequence: Int?

  static func even(frames: Int, fps: Int) -> SceneTiming {
    SceneTiming(pts: (0..<frames).map { Int64($0) }, timeBase: TimeBase(1, Int32(fps)))
  }

  /// Units per second of the time base of `cut`.
  static let ticks = 90_000
  /// Duration of the gap, in seconds.
  static let gapSeconds = 2

  /// Up to the cut, at two fifths of the frames, the rate is even. After it the rate is two thirds
  /// of that, and each frame is up to a fifth of an interval early or late. At seven tenths of the
  /// frames there is a gap of two seconds.
  static func cut(_ options: SyntheticOptions) -> SceneTiming {
    let cut = options.frames * 2 / 5
    let gap = options.frames * 7 / 10
    let interval = ticks / options.fps
    let slowInterval = interval * 3 / 2
    var due = 0
    let pts = (0..<options.frames).map { sequence -> Int64 in
      if sequence == gap, gap > 0 { due += gapSeconds * ticks }
      defer { due += sequence < cut ? interval : slowInterval }
      guard sequence >= cut, sequence > 0 else { return Int64(due) }
      // A draw by number, so that a time does not depend on the frames before it.
      let draw = CameraNoise(seed: UInt64(options.seed), frame: UInt64(sequence)).draw
      // Two neighbors approach each other by two fifths at most, so times still rise.
      let fifth = slowInterval / 5
      return Int64(due - fifth + Int(draw % UInt64(2 * fifth + 1)))
    }
    // A cut or gap at frame 0 would not be visible, so very short scenes do not have it.
    return SceneTiming(
      pts: pts, timeBase: TimeBase(1, Int32(ticks)), cutSequence: cut > 0 ? cut : nil,
      gapSequence: gap > 0 ? gap : nil)
  }
}
