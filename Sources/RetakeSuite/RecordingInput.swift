import Foundation
import RetakeCore
import RetakeGraph
import RetakeRecord
import RetakeStages

/// What can be recorded, by the name that people type.
public enum RecordingInput {
  /// How a drawn scene looks; a file brings its own.
  public struct Picture: Hashable, Sendable {
    public var width = 640
    public var height = 480
    public var framesPerSecond = 30
    public var seed = 1
    /// Frames of the scene, where something bounds them; else it begins again for ever.
    public var frames: Int?

    public init() {}
  }

  /// What is wished of a source that may be a camera or a stream.
  public struct Live: Hashable, Sendable {
    public var camera = CameraRequest()
    /// A source that is away for longer ends the recording; nil waits for ever.
    public var patience: Duration?

    public init() {}
  }

  /// - Parameter name: `synthetic:SCENE`, a camera, a stream's URL, `lavfi:GRAPH`, or a media file.
  /// - Throws: `SuiteError.noScene`, `.noFile` and `.tracksOfFiles`; what the scene says of its options; `MediaError`.
  public static func source(
    _ name: String, _ picture: Picture, live: Live = Live(),
    tracks: MediaFileSource.Tracks = .first
  ) throws -> any RecordingSource {
    guard name.hasPrefix("synthetic:") else {
      if let source = try SourceAddress.source(
        name, camera: live.camera, patience: live.patience)
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
      scene: scene, width: picture.width, height: picture.height, fps: picture.framesPerSecond,
      frames: picture.frames ?? defaultFrames, seed: picture.seed)
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
