import Foundation
import RetakeCore
import RetakeGraph
package import RetakeRecord
import RetakeStages

/// The inputs that can be recorded, by the name that a user types.
package enum RecordingInput {
  /// The appearance of a synthetic scene, or the settings that are requested from a camera. Other
  /// sources have their own values.
  package struct Image: Hashable, Sendable {
    /// In pixels; `nil` is 640 for a scene, and the current setting of a camera.
    package var width: Int?
    /// In pixels; `nil` is 480 for a scene, and the current setting of a camera.
    package var height: Int?
    /// `nil` is 30 for a scene, and the current setting of a camera.
    package var framesPerSecond: Int?
    /// The seed of a scene's noise; `nil` is 1.
    package var seed: Int?
    /// The length of the scene in frames; if `nil`, the scene repeats forever.
    package var frames: Int?

    package init() {}

    var camera: CameraRequest {
      CameraRequest(width: width, height: height, framesPerSecond: framesPerSecond)
    }

    /// Rejects options that this source does not support.
    func check(for name: String) throws {
      let isScene = name.hasPrefix("synthetic:")
      if seed != nil, !isScene { throw SuiteError.sceneOnly("--seed", of: name) }
      guard !isScene, !SourceAddress.isCamera(name) else { return }
      if width != nil || height != nil { throw SuiteError.sceneOnly("--size", of: name) }
      if framesPerSecond != nil { throw SuiteError.sceneOnly("--fps", of: name) }
    }
  }

  /// Options of a source that may be a camera or a stream.
  package struct Live: Hashable, Sendable {
    /// How long a source may be absent before the recording ends; `nil` waits forever.
    package var patience: Duration?

    package init() {}
  }

  /// - Parameters:
  ///   - name: `synthetic:SCENE`, a camera, a stream's URL, `lavfi:GRAPH`, or a media file.
  ///   - isInterrupted: Called while connecting to a live source; `true` ends the attempt.
  /// - Throws: `SuiteError`, with a code `suite.record.…`; the errors of
  ///   the scene's options; `MediaError`; `RecordError.stoppedBefore`.
  package static func source(
    _ name: String, _ picture: Image, live: Live = Live(),
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
      throw SuiteError(
        "suite.record.noScene", "there is no scene '\(word)'",
        advice: Suggestion.advice(for: word, among: SceneKind.allCases.map(\.rawValue)),
        kind: .usage)
    }
    let options = SyntheticOptions(
      scene: scene, width: picture.width ?? 640, height: picture.height ?? 480,
      fps: picture.framesPerSecond ?? 30, frames: picture.frames ?? defaultFrames,
      seed: picture.seed ?? 1)
    do {
      return try ReaderSource(
        SyntheticScene(options), name: name, repeats: picture.frames == nil)
    } catch let error as OptionError {
      throw SuiteError(
        "suite.record.badScene", "'\(error.key)' \(error.message)",
        advice: "See the options: retake record --help",
        kind: .usage)
    }
  }

  /// The length of a scene that is repeated.
  private static let defaultFrames = 300
}
