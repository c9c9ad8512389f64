import Foundation
import RetakeCore
import RetakeGraph
import RetakeRecord
import RetakeStages

/// What can be recorded, by the name that people type.
public enum RecordingInput {
  /// How a drawn scene looks, or what a camera is asked for; others bring their own.
  public struct Picture: Hashable, Sendable {
    /// Pixels; nil is 640 of a scene, and what a camera is set to.
    public var width: Int?
    /// Pixels; nil is 480 of a scene, and what a camera is set to.
    public var height: Int?
    /// nil is 30 of a scene, and what a camera is set to.
    public var framesPerSecond: Int?
    /// Of a scene's noise; nil is 1.
    public var seed: Int?
    /// Frames of the scene, where something bounds them; else it begins again for ever.
    public var frames: Int?

    public init() {}

    var camera: CameraRequest {
      CameraRequest(width: width, height: height, framesPerSecond: framesPerSecond)
    }

    /// Refuses what this source does not heed.
    func check(for name: String) throws(SuiteError) {
      let isScene = name.hasPrefix("synthetic:")
      if seed != nil, !isScene { throw .sceneOnly("--seed", of: name) }
      guard !isScene, !SourceAddress.isCamera(name) else { return }
      if width != nil || height != nil { throw .sceneOnly("--size", of: name) }
      if framesPerSecond != nil { throw .sceneOnly("--fps", of: name) }
    }
  }

  /// What is wished of a source that may be a camera or a stream.
  public struct Live: Hashable, Sendable {
    /// A source that is away for longer ends the recording; nil waits for ever.
    public var patience: Duration?

    public init() {}
  }

  /// - Parameters:
  ///   - name: `synthetic:SCENE`, a camera, a stream's URL, `lavfi:GRAPH`, or a media file.
  ///   - isInterrupted: Asked while a live source is connected to; true ends that.
  /// - Throws: `SuiteError.noScene`, `.noFile`, `.sceneOnly` and `.tracksOfFiles`; what the scene says
  ///   of its options; `MediaError`; `RecordError.stoppedBefore`.
  public static func source(
    _ name: String, _ picture: Picture, live: Live = Live(),
    tracks: MediaFileSource.Tracks = .first,
    isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) throws -> any RecordingSource {
    try picture.check(for: name)
    guard name.hasPrefix("synthetic:") else {
      if let source = try SourceAddress.source(
        name, camera: picture.camera, patience: live.patience, isInterrupted: isInterrupted)
      {
        guard tracks == .first else { throw SuiteError.tracksOfFiles(name) }
        return source
      }
      guard FileManager.default.fileExists(atPath: name) else {
        throw SuiteError.noFile(path: name)
      }
      return try MediaFileSource(path: name, tracks: tracks)
    }
    guard tracks == .first else { throw SuiteError.tracksOfFiles(name) }
    let word = String(name.dropFirst("synthetic:".count))
    guard let scene = SceneKind(rawValue: word) else {
      throw SuiteError.noScene(word, known: SceneKind.allCases.map(\.rawValue))
    }
    let options = SyntheticOptions(
      scene: scene, width: picture.width ?? 640, height: picture.height ?? 480,
      fps: picture.framesPerSecond ?? 30, frames: picture.frames ?? defaultFrames,
      seed: picture.seed ?? 1)
    do {
      return try ReaderSource(
        SyntheticScene(options), name: name, repeats: picture.frames == nil)
    } catch let error as OptionError {
      throw SuiteError.badScene("'\(error.key)' \(error.message)")
    }
  }

  /// Of a scene that is repeated.
  private static let defaultFrames = 300
}
