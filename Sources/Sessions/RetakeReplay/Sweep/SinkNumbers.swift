import RetakeCore
import RetakeRuntime

/// Keeps the numbers that reach the sinks of a run, by sink and name.
final class SinkNumbers: RunObserver {
  struct Name: Hashable, Comparable {
    var sink: String
    var name: String

    static func < (left: Name, right: Name) -> Bool {
      (left.sink, left.name) < (right.sink, right.name)
    }
  }

  private(set) var all: [Name: [FrameID: Double]] = [:]

  func finished(_ frame: FinishedFrame) {
    for outcome in frame.result.outcomes {
      guard case .facts(let facts) = outcome.content else { continue }
      for case .scalar(let name, let value) in facts where value.isFinite {
        all[Name(sink: outcome.sink, name: name), default: [:]][frame.entry.id] = value
      }
    }
  }

  /// A row for each name that one of the two runs has.
  ///
  /// - Parameter whole: The numbers of an every-frame run.
  func figures(against whole: SinkNumbers) -> [SweepReport.Number] {
    Set(all.keys).union(whole.all.keys).sorted().map { name in
      SweepReport.Number(name, all[name] ?? [:], whole: whole.all[name] ?? [:])
    }
  }
}

extension SweepReport.Number {
  fileprivate init(
    _ name: SinkNumbers.Name, _ values: [FrameID: Double], whole: [FrameID: Double]
  ) {
    (sink, self.name, frames) = (name.sink, name.name, values.count)
    // In the order of the frames, because a sum of floating-point numbers depends on its order.
    let frames = values.keys.sorted()
    mean = Self.mean(frames.compactMap { values[$0] })
    let errors = frames.compactMap { frame -> Double? in
      guard let value = values[frame], let expected = whole[frame] else { return nil }
      return abs(value - expected)
    }
    (meanError, largestError) = (Self.mean(errors), errors.max())
  }

  private static func mean(_ values: [Double]) -> Double? {
    values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
  }
}
