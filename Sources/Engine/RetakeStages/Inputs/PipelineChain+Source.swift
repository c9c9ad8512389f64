public import RetakeBuffers
public import RetakeGraph
import RetakeRuntime

/// The track of the session that a source reads.
package struct SessionSourceOptions: StageOptions, Hashable {
  @OptionValue(
    "number of the session's track, {range}; 'tracks' of a case and --track come before it",
    in: 0...1_023)
  package var track = 0

  package init() {}

  package init(track: Int) { self.track = track }
}

/// The kinds of sources that documents can name.
enum Sources {
  static let session = signature(
    AnyStage.sessionKind, "reads a track of the session that is replayed")
  static let images = signature("images", "reads PNG and JPEG images, from a file or a folder")
  static let synthetic = signature("synthetic", "draws a scene: figures, pulse or cut")
  static let frames = signature("static", "returns frames that are in memory")

  private static func signature(_ kind: String, _ summary: String) -> StageSignature {
    StageSignature(
      kind: kind, version: 1, role: .source, input: nil, output: .frame, summary: summary)
  }

  static func session(_ options: SessionSourceOptions) throws -> SessionSource {
    try options.checkRanges()
    return SessionSource(track: options.track)
  }

  static func stage(
    _ signature: StageSignature, options: some StageOptions, body: any Sendable,
    isExportable: Bool = true
  ) -> AnyStage {
    AnyStage(
      signature: signature, options: AnyStage.canonical(options), body: .source(body),
      isExportable: isExportable)
  }
}

extension PipelineStart {
  /// Adds the source, followed by a throttle: the chain continues with at most `fps` frames a
  /// second. Pass parameters of the source itself, such as its pool, to `source(_:id:)`.
  ///
  /// - Parameters:
  ///   - source: Its rate, such as the rate of a recording, is not changed.
  ///   - fps: Frames per second, above 0 and at most 1,000.
  ///   - id: The source's ID.
  public func source(
    _ source: AnyStage, fps: Double, id: String = "camera"
  ) -> PipelineChain<Frame> {
    self.source(source, id: id).throttle(fps: fps)
  }
}

/// Sources as members, for `.source(…)`. A number that is out of bounds stops the program with a
/// message about the violated rule.
extension AnyStage {
  /// A track of the replayed session.
  public static func session(track: Int = 0) -> AnyStage {
    let options = SessionSourceOptions(track: track)
    return Sources.stage(
      Sources.session, options: options, body: built { try Sources.session(options) })
  }

  /// Frames in memory, at an even rate. Such a pipeline has no document.
  public static func frames(_ frames: [Frame], fps: Double = 30) -> AnyStage {
    .frames(built { try StaticSource(frames, fps: fps) })
  }

  /// Frames in memory, at the times of the source. Such a pipeline has no document.
  public static func frames(_ source: StaticSource) -> AnyStage {
    Sources.stage(Sources.frames, options: NoOptions(), body: source, isExportable: false)
  }

  /// Images from a PNG or JPEG file, or from a folder of them in the order of their names.
  public static func images(path: String, fps: Double = 30) -> AnyStage {
    let options = ImagesOptions(path: path, fps: fps)
    return Sources.stage(
      Sources.images, options: options, body: built { try ImagesSource(options: options) })
  }

  /// A synthetic scene.
  public static func synthetic(_ options: SyntheticOptions) -> AnyStage {
    Sources.stage(
      Sources.synthetic, options: options, body: built { try SyntheticScene(options) })
  }
}
