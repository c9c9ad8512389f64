import RetakeBench
import RetakeCore
import RetakeStages

/// The statements of the article on double-buffered previews, next to the results of Retake's
/// trials.
enum PreviewArticle {
  /// One row for each statement: in words, the article's figure, and the figure of the trials. All
  /// of it is computed now, in virtual time, and is the same on every machine.
  ///
  /// - Throws: The error of a trial.
  static func rows() throws -> [ArticleStatement] {
    let trials = try Trials(PreviewTable(PreviewTrial.standard).rows)
    return paceRows(trials) + bufferRows(trials) + memoryRows(trials)
  }

  /// The trials that rows are about, by their names.
  private struct Trials {
    private let rows: [String: PreviewFigures]

    init(_ rows: [PreviewFigures]) {
      self.rows = Dictionary(rows.map { ($0.trial, $0) }, uniquingKeysWith: { first, _ in first })
    }

    subscript(name: String) -> PreviewFigures {
      guard let row = rows[name] else { preconditionFailure("there is a trial '\(name)'") }
      return row
    }
  }

  private static func paceRows(
    _ trials: Trials
  ) -> [ArticleStatement] {
    let (copies, hung) = (trials["copies"], trials["vision hangs"])
    let (late, queued, hot) = (
      trials["draws 17 ms"], trials["draws 17 ms, queued"], trials["hot from 3 to 6 s"]
    )
    return [
      (
        "images a second while vision takes 50-200 ms", "60",
        "\(copies.shown / PreviewTrial.seconds), \(copies.repeats) repeated, jitter "
          + "\(milliseconds(copies.jitterMax))"
      ),
      (
        "the same while vision never returns", "never waits",
        "\(hung.shown / PreviewTrial.seconds), jitter \(milliseconds(hung.jitterMax))"
      ),
      ("the stutter of one dropped frame", "16 ms", milliseconds(late.jitterMax)),
      (
        "drawing takes 17 ms: the third frame", "is dropped",
        "\(late.dropped) of \(late.frames) dropped, the first ones "
          + late.droppedFrames.prefix(3).map { "\($0)" }.joined(separator: ", ")
      ),
      (
        "the same without dropping: lag", "seconds",
        "\(milliseconds(queued.latencyMax)) after \(PreviewTrial.seconds) s, and "
          + "\(milliseconds(lagPerSecond)) more each second"
      ),
      (
        "images a second while it is hot", "30",
        "\((hot.throttled + PreviewTrial.hotSeconds / 2) / PreviewTrial.hotSeconds) of "
          + "\(PreviewTrial.fps) left out"
      ),
      ("points a second of a waveform", "240", "\(Int(OverlayLayout.waveformRate))"),
    ]
  }

  /// By how much drawing is longer than the interval of the camera, in a second.
  private static var lagPerSecond: Int64 {
    17_000_000 * Int64(PreviewTrial.fps) - 1_000_000_000
  }

  private static func bufferRows(
    _ trials: Trials
  ) -> [ArticleStatement] {
    let (two, three, four) = (
      trials["58 fps, 2 on screen"], trials["58 fps, 3 buffers"], trials["58 fps, 4 on screen"]
    )
    return [
      (
        "2 buffers, 58 images a second are drawn of 60", "stalls",
        "\(two.shown) of \(two.frames) shown"
      ),
      ("3 buffers", "optimal", "\(three.shown) of \(three.frames) shown"),
      (
        "4 buffers: latency, compared with 3", "no benefit",
        "\(milliseconds(four.latencyMedian)), \(milliseconds(three.latencyMedian)); "
          + "\(four.shown) shown"
      ),
    ]
  }

  private static func memoryRows(
    _ trials: Trials
  ) -> [ArticleStatement] {
    let bytes = PreviewFigures.bufferBytes
    return [
      ("a buffer of 1920x1080", "about 3 MB", PreviewTable.megabytes(bytes) + " MB"),
      (
        "the most buffers in use", "9 MB",
        "\(PreviewTable.megabytes(trials["copies"].cameraBytes)) MB with copies for vision, "
          + "\(PreviewTable.megabytes(trials["reference"].cameraBytes)) MB by reference"
      ),
    ]
  }

  private static func milliseconds(_ nanoseconds: Int64) -> String {
    TextTable.milliseconds(nanoseconds) + " ms"
  }
}
