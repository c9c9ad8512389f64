import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime

/// Everything that a run reports, for comparison with another run.
struct RunPrint: Hashable {
  struct FramePrint: Hashable {
    var entry: FrameEntry
    var arrival: Int64
    var result: FrameResult
    var classNames: [[String]]
    var digests: [NodeDigest]
  }

  var outcome: RunOutcome
  var lines: [DecisionLine]
  var frames: [FramePrint]

  init(_ pipeline: Pipeline, _ options: RunOptions) throws {
    let (notes, outcome) = try pipeline.noted(options)
    self.outcome = outcome
    lines = notes.lines
    frames = notes.frames.map {
      FramePrint(
        entry: $0.entry, arrival: $0.arrivalNanoseconds, result: $0.result,
        classNames: $0.classNames, digests: $0.digests)
    }
  }

  /// The first difference between two runs; `nil` if they are equal.
  func difference(from other: RunPrint) -> String? {
    if self == other { return nil }
    if let (mine, theirs) = zip(lines, other.lines).first(where: { $0 != $1 }) {
      return "decisions: \(mine) instead of \(theirs)"
    }
    if let (mine, theirs) = zip(frames, other.frames).first(where: { $0 != $1 }) {
      return "frames: \(mine) instead of \(theirs)"
    }
    return "outcomes: \(outcome) instead of \(other.outcome)"
  }
}

extension RunOptions {
  /// All ways of running that may change the speed but not the results.
  static func ways(
    mode: Mode, seed: UInt64, workers: [Int] = [0, 1, 2, 4, 8], windows: [Int] = [1, 24],
    perturbations: [UInt64?] = [nil, 1]
  ) -> [RunOptions] {
    workers.flatMap { workers in
      windows.flatMap { window in
        // Without running ahead, the run is the same with every window.
        (window == windows.last ? [true, false] : [true]).flatMap { runAhead in
          perturbations.map {
            RunOptions(
              mode: mode, workers: workers, seed: seed, window: window, runAhead: runAhead,
              perturbation: $0)
          }
        }
      }
    }
  }
}
