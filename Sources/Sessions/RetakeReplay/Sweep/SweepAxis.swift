package import RetakeCore
import RetakeGraph

/// One quantity that a sweep varies, and its values: `queue=1..6`, `vision.count=1|2|4`,
/// `scale=0.5|1|2`.
package struct SweepAxis: Hashable, Sendable {
  package enum Target: Hashable, Sendable {
    /// The capacity of every edge except replace edges.
    case queues
    /// The capacity of the edges into a node.
    case queue(node: String)
    /// The servers of every executor that the pipeline declares.
    case executors
    case executor(String)
    /// The buffers of every pool.
    case pools
    case pool(String)
    /// How many frames a node handles at once.
    case concurrency(node: String)
    /// The frames per second that a throttle passes while no rule of its policy applies.
    case rate(node: String)
    /// The factor of all costs.
    case scale
  }

  package enum Value: Hashable, Sendable, CustomStringConvertible {
    case count(Int)
    case ratio(DecimalRatio)

    package var description: String {
      switch self {
      case .count(let count): "\(count)"
      case .ratio(let ratio): "\(ratio)"
      }
    }
  }

  /// The name as it was written: `queue`, `motion.queue`.
  package let name: String
  package let target: Target
  /// In the order in which they were written, without duplicates.
  package let values: [Value]

  static let names = [
    "queue", "executors", "pools", "scale", "NODE.queue", "NODE.concurrency", "NODE.fps",
    "EXECUTOR.count", "POOL.capacity",
  ]

  /// - Throws: `ReplayError.badSweep`.
  init(parsing text: Substring) throws {
    let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
      throw ReplayError.badSweep(
        "'\(text)' is not NAME=VALUES", advice: "Write, for example, queue=1..6")
    }
    name = parts[0]
    target = try Self.target(name)
    values = try Self.values(parts[1], of: target, named: name)
  }

  private static func target(_ name: String) throws -> Target {
    switch name {
    case "queue": return .queues
    case "executors": return .executors
    case "pools": return .pools
    case "scale": return .scale
    default: break
    }
    if let dot = name.lastIndex(of: "."), dot != name.startIndex {
      let id = String(name[..<dot])
      switch name[name.index(after: dot)...] {
      case "queue": return .queue(node: id)
      case "concurrency": return .concurrency(node: id)
      case "fps": return .rate(node: id)
      case "count": return .executor(id)
      case "capacity": return .pool(id)
      default: break
      }
    }
    throw ReplayError.badSweep(
      "there is no parameter '\(name)'",
      advice: Suggestion.advice(for: name, among: names))
  }

  /// The limits of pipelines: see `Pipeline.checkNumbers`.
  private static func countMax(of target: Target) -> Int {
    switch target {
    case .queues, .queue: PipelineEdge.capacityRange.upperBound
    case .executors, .executor: 1_024
    case .pools, .pool: 4_096
    case .concurrency: 64
    case .rate: Int(DeviceRule.fpsMax)
    case .scale: 0
    }
  }

  private static func values(
    _ text: String, of target: Target, named name: String
  ) throws -> [Value] {
    var values: [Value] = []
    for part in text.split(separator: "|", omittingEmptySubsequences: false) {
      if target == .scale {
        guard let ratio = DecimalRatio(parsing: part) else {
          throw ReplayError.badSweep(
            "'\(part)' is not a scale",
            advice: "Write, for example, scale=0.5|1|2: each is "
              + DecimalRatio.rangeText)
        }
        values.append(.ratio(ratio))
      } else {
        values += try counts(part, max: countMax(of: target), named: name).map { .count($0) }
      }
    }
    guard values.count <= Sweep.combinationsMax else { throw Sweep.tooLarge }
    guard Set(values).count == values.count else {
      throw ReplayError.badSweep("'\(name)' has a value twice", advice: "Name each value once")
    }
    return values
  }

  private static func counts(
    _ text: Substring, max: Int, named name: String
  ) throws -> ClosedRange<Int> {
    let ends = text.split(separator: ".", omittingEmptySubsequences: false)
    let (low, high) = (ends.first.flatMap(whole), ends.last.flatMap(whole))
    guard ends.count == 1 || ends.count == 3 && ends[1].isEmpty, let low, let high,
      [low, high].allSatisfy((1...max).contains)
    else {
      throw ReplayError.badSweep(
        "'\(text)' is not a value for '\(name)'",
        advice: "Write 1 to \(max) as 4, as 1..6, or as 1|3|6")
    }
    guard low <= high else {
      throw ReplayError.badSweep(
        "'\(text)' ends below its start",
        advice: "Write 1 to \(max), the smaller one first: \(name)=\(high)..\(low)")
    }
    // Before the range becomes an array of up to 65,536 values.
    guard high - low < Sweep.combinationsMax else { throw Sweep.tooLarge }
    return low...high
  }

  private static func whole(_ text: Substring) -> Int? {
    // Swift's Int also reads `+4`.
    text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
  }
}
