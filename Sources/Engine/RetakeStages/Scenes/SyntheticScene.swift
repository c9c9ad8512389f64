package import RetakeBuffers
package import RetakeCore

/// A synthetic scene, without any file: I420, limited range, BT.601.
///
/// Every frame is a function of the options and its number alone, in integer arithmetic. The bytes
/// are therefore the same on every machine, whatever was read before.
/// ```swift
/// let scene = try SyntheticScene(SyntheticOptions(scene: .figures, frames: 90))
/// let frame = try scene.frame(FrameID(track: 0, sequence: 12))
/// ```
package struct SyntheticScene: FrameReader, FrameSource {
  package let options: SyntheticOptions
  package let tracks: [TrackDescription]
  /// Presentation times in units of `timeBase`, strictly increasing.
  package let pts: [Int64]
  package let timeBase: TimeBase
  /// The first frame after the cut, in scenes with a cut.
  package let cutSequence: Int?
  /// The first frame after the gap, in scenes with a gap.
  package let gapSequence: Int?
  private let index: TrackIndex
  private let painter: any ScenePainter

  /// - Throws: `OptionError` for a number that is out of bounds.
  package init(_ options: SyntheticOptions) throws {
    try options.check()
    self.options = options
    let timing =
      options.scene == .cut
      ? SceneTiming.cut(options) : SceneTiming.even(frames: options.frames, fps: options.fps)
    (pts, timeBase) = (timing.pts, timing.timeBase)
    (cutSequence, gapSequence) = (timing.cutSequence, timing.gapSequence)
    index = TrackIndex(pts: timing.pts, timeBase: timing.timeBase)
    // Without a cut all frames come before it.
    painter = options.painter(cutSequence: timing.cutSequence ?? options.frames)
    tracks = [
      TrackDescription(
        track: 0, timeBase: timing.timeBase, format: .i420, width: options.width,
        height: options.height, range: .limited, matrix: .bt601, frameCount: options.frames)
    ]
  }

  /// The true rate of a `pulse` scene, in beats per minute.
  package var pulseBeatsPerMinute: Int? {
    options.scene == .pulse ? options.beatsPerMinute : nil
  }

  package func open() -> any FrameReader { self }

  package func entries(of track: Int, sequences: Range<Int>) -> [FrameEntry] {
    index.entries(of: track, sequences: sequences)
  }

  package func chain(of id: FrameID) -> Int { id.sequence }

  /// - Throws: `StagesError.noSuchFrame`, `MediaError.noMemory`.
  package func frame(_ id: FrameID) throws -> Frame {
    let row = try index.row(id)
    let noise = CameraNoise(seed: UInt64(options.seed), frame: UInt64(id.sequence))
    let storage = try SceneCanvas(width: options.width, height: options.height)
      .draw(painter.picture(sequence: id.sequence, timestamp: row.timestamp), noise: noise)
    return Frame(
      id: id, timestamp: row.timestamp, format: .i420, width: options.width,
      height: options.height, range: .limited, matrix: .bt601, storage: storage)
  }
}

/// Provides the image of each frame of a scene.
protocol ScenePainter: Sendable {
  func picture(sequence: Int, timestamp: Timestamp) -> any SceneImage
}

extension SyntheticOptions {
  fileprivate func painter(cutSequence: Int) -> any ScenePainter {
    switch scene {
    case .figures:
      FiguresPainter(width: width, height: height, backdrop: .yard, figures: Figure.yard)
    case .pulse: PulsePainter(width: width, height: height, beatsPerMinute: beatsPerMinute)
    case .cut:
      CutPainter(
        before: FiguresPainter(
          width: width, height: height, backdrop: .yard, figures: Array(Figure.yard.prefix(2))),
        after: FiguresPainter(
          width: width, height: height, backdrop: .hall, figures: Array(Figure.yard.suffix(2))),
        cutSequence: cutSequence)
    }
  }
}

/// One scene up to the cut, and another scene after it.
private struct CutPainter: ScenePainter {
  var before: FiguresPainter
  var after: FiguresPainter
  var cutSequence: Int

  func picture(sequence: Int, timestamp: Timestamp) -> any SceneImage {
    (sequence < cutSequence ? before : after).picture(sequence: sequence, timestamp: timestamp)
  }
}
