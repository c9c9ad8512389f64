import RetakeCore
import RetakeReplay
import RetakeRuntime

/// Finds numbers of scripts under `retake.loop` that the precision of their sink rounds to 0: a
/// change of them is in no result.
final class VanishedNumbers: RunObserver {
  private struct Found {
    var first: (name: String, value: Double, frame: FrameID)
    var count = 0
    /// Without a sign.
    var least: Double
  }

  /// By the sink: the decimal places of its numbers.
  private let decimals: [String: Int]
  private var found: [String: Found] = [:]

  /// `nil` without such a script: the author of a stage chooses the precision with its sink.
  init?(_ replay: Replay) {
    guard replay.nodes.contains(where: \.isLoop) else { return nil }
    decimals = Dictionary(
      replay.sinks.map { ($0.path, $0.precision.scalarDecimals) }, uniquingKeysWith: { $1 })
  }

  /// For tests.
  init(decimals: [String: Int]) { self.decimals = decimals }

  func finished(_ frame: FinishedFrame) {
    for outcome in frame.result.outcomes {
      guard case .facts(let facts) = outcome.content, let decimals = decimals[outcome.sink] else {
        continue
      }
      for case .scalar(let name, let value) in facts
      where abs(value) < 1 && Self.vanishes(value, decimals: decimals) {
        let size = abs(value)
        var one = found[outcome.sink] ?? Found(first: (name, value, frame.result.id), least: size)
        one.count += 1
        one.least = min(one.least, size)
        found[outcome.sink] = one
      }
    }
  }

  /// Numbers that no precision keeps do not count.
  private static func vanishes(_ value: Double, decimals: Int) -> Bool {
    value != 0 && FixedDecimal(value, decimals: decimals).units == 0
      && FixedDecimal(value, decimals: decimalsMax).units != 0
  }

  private static let decimalsMax = 9

  /// One note for each sink with such numbers, in the order of the sinks' names.
  var notes: [String] {
    found.sorted { $0.key < $1.key }.map { sink, found in
      let (name, value, frame) = found.first
      let numbers = found.count == 1 ? "a number" : "\(found.count) numbers"
      return "\(numbers) of '\(sink)' became 0, first '\(name)' = \(value) of frame \(frame): "
        + "changes of them are not seen. Keep their digits in retake.yml, in the case: "
        + "precision: {\(sink): {scalar: \(Self.step(for: found.least))}}"
    }
  }

  /// Keeps three digits of a number, if a precision can.
  private static func step(for size: Double) -> String {
    var decimals = 1
    while decimals < decimalsMax, FixedDecimal(size, decimals: decimals).units < 100 {
      decimals += 1
    }
    return "0." + String(repeating: "0", count: decimals - 1) + "1"
  }
}
