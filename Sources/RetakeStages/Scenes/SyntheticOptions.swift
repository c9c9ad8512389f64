import RetakeGraph

/// What a synthetic scene shows.
public enum SceneKind: String, Hashable, Sendable, Codable, CaseIterable {
  /// Four figures that move, stop, cross, leave and come back, before a camera's noise.
  case figures
  /// A fingertip on the lens under drifting light, with a known pulse.
  case pulse
  /// Figures in two places with a cut between, at a varying frame rate, with a gap.
  case cut
}

/// A scene to draw. The defaults are ten seconds at 640x480.
public struct SyntheticOptions: StageOptions, Hashable {
  /// `figures`, `pulse` or `cut`.
  public var scene = SceneKind.figures
  /// Pixels, 16 to 4,096.
  public var width = 640
  /// Pixels, 16 to 4,096.
  public var height = 480
  /// Frames a second, 1 to 240; in `cut` the highest of its rates.
  public var fps = 30
  /// How many frames, 1 to 1,000,000.
  public var frames = 300
  /// Of the noise and, in `cut`, of the times, 0 to 9,007,199,254,740,991 (a JSON number's last
  /// whole one).
  public var seed = 1

  public init() {}

  public init(
    scene: SceneKind, width: Int = 640, height: Int = 480, fps: Int = 30, frames: Int = 300,
    seed: Int = 1
  ) {
    (self.scene, self.width, self.height) = (scene, width, height)
    (self.fps, self.frames, self.seed) = (fps, frames, seed)
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    scene = try container.choice(SceneKind.self, forKey: .scene)
    width = try container.decode(Int.self, forKey: .width)
    height = try container.decode(Int.self, forKey: .height)
    fps = try container.decode(Int.self, forKey: .fps)
    frames = try container.decode(Int.self, forKey: .frames)
    seed = try container.decode(Int.self, forKey: .seed)
  }

  func check() throws(OptionError) {
    try OptionError.require(width, "width", in: 16...4_096)
    try OptionError.require(height, "height", in: 16...4_096)
    try OptionError.require(fps, "fps", in: 1...240)
    try OptionError.require(frames, "frames", in: 1...1_000_000)
    try OptionError.require(seed, "seed", in: 0...9_007_199_254_740_991)
  }
}
