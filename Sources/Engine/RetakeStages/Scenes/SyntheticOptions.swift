public import RetakeGraph

/// The contents of a synthetic scene.
public enum SceneKind: String, Hashable, Sendable, Codable, CaseIterable {
  /// Four figures that move, stop, cross, leave and come back, with camera noise.
  case figures
  /// A fingertip on the lens with drifting light and a known pulse.
  case pulse
  /// Figures in two places with a cut in between, at a varying frame rate, with a gap.
  case cut
}

/// Options of a synthetic scene. The defaults are ten seconds at 640x480.
public struct SyntheticOptions: StageOptions, Hashable {
  /// One line for each option, for `retake pipeline stages`.
  public static let explanations: [String: String] = [
    "beatsPerMinute": "pulse of the scene 'pulse', 30 to 240; other scenes have no pulse",
    "fps": "frames per second, 1 to 240; of 'cut' its highest rate",
    "frames": "number of frames, 1 to 1000000",
    "height": "in pixels, 16 to 4096",
    "scene":
      "'figures' (they move and cross), 'pulse' (a fingertip), or 'cut' (two places, "
      + "uneven times)",
    "seed": "of the noise and, for 'cut', of the times; 0 to 9007199254740991",
    "width": "in pixels, 16 to 4096",
  ]

  /// `figures`, `pulse` or `cut`.
  public var scene = SceneKind.figures
  /// In pixels, 16 to 4,096.
  public var width = 640
  /// In pixels, 16 to 4,096.
  public var height = 480
  /// Frames per second, 1 to 240; for `cut` the highest of its rates.
  public var fps = 30
  /// Number of frames, 1 to 1,000,000.
  public var frames = 300
  /// Seed of the noise and, for `cut`, of the times, 0 to 9,007,199,254,740,991 (the largest exact
  /// integer of a JSON number).
  public var seed = 1
  /// Beats per minute of a `pulse` scene, 30 to 240; other scenes ignore it.
  public var beatsPerMinute = 72

  /// All options have their defaults.
  public init() {}

  /// The ranges are checked when a scene is made of the options.
  public init(
    scene: SceneKind, width: Int = 640, height: Int = 480, fps: Int = 30, frames: Int = 300,
    seed: Int = 1
  ) {
    (self.scene, self.width, self.height) = (scene, width, height)
    (self.fps, self.frames, self.seed) = (fps, frames, seed)
  }

  /// - Throws: If a key is missing or has a wrong type. The error of an unknown scene lists the
  ///   valid names.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    // As in `JoinOptions`: the error of an unknown name lists the valid names.
    scene = try container.choice(SceneKind.self, forKey: .scene)
    width = try container.decode(Int.self, forKey: .width)
    height = try container.decode(Int.self, forKey: .height)
    fps = try container.decode(Int.self, forKey: .fps)
    frames = try container.decode(Int.self, forKey: .frames)
    seed = try container.decode(Int.self, forKey: .seed)
    beatsPerMinute = try container.decode(Int.self, forKey: .beatsPerMinute)
  }

  func check() throws {
    try OptionError.require(width, "width", in: 16...4_096)
    try OptionError.require(height, "height", in: 16...4_096)
    try OptionError.require(fps, "fps", in: 1...240)
    try OptionError.require(frames, "frames", in: 1...1_000_000)
    try OptionError.require(beatsPerMinute, "beatsPerMinute", in: 30...240)
    try OptionError.require(seed, "seed", in: 0...9_007_199_254_740_991)
  }
}
