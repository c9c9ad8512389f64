import RetakeCore
import RetakeReplay

/// One perturbation and its strengths: `brightness=-40%..40%`, `jpeg=90|50|20`, `drop=5%`.
package struct StressAxis: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case brightness, noise, blur, jpeg, drop, freeze, jitter

    /// The unit of a strength; empty for numbers.
    package var unit: String {
      switch self {
      case .brightness, .drop: "%"
      case .freeze, .jitter: "ms"
      case .noise, .blur, .jpeg: ""
      }
    }

    /// In the unit.
    var range: ClosedRange<Int> {
      switch self {
      case .brightness: -100...400
      case .noise: 0...64
      case .blur: 0...16
      case .jpeg: 1...100
      case .drop: 0...100
      case .freeze, .jitter: 0...1_000
      }
    }

    /// The strength at which it changes the least.
    var neutral: Int { self == .jpeg ? 100 : 0 }
  }

  package let kind: Kind
  /// In thousandths of the unit, in the order of the values.
  package let strengths: [Int]

  package static let stepsMax = 64

  /// Parses `brightness=-40%..40%,noise=5`.
  ///
  /// - Parameter steps: The number of strengths of a range.
  /// - Throws: `SuiteError` `suite.stress.bad`.
  package static func all(parsing text: String, steps: Int) throws -> [StressAxis] {
    let axes = try text.split(separator: ",", omittingEmptySubsequences: false)
      .map { try StressAxis(parsing: $0, steps: steps) }
    let kinds = axes.map(\.kind)
    guard Set(kinds).count == kinds.count else {
      throw bad("a perturbation comes twice in '\(text)'", "Name each one once")
    }
    return axes
  }

  private init(parsing text: Substring, steps: Int) throws {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let kind = Kind(rawValue: String(parts[0])), parts.count == 2 else {
      throw Self.bad(
        "'\(parts[0])' is not a perturbation with strengths",
        "Write for example noise=0..20. "
          + Suggestion.advice(for: String(parts[0]), among: Kind.allCases.map(\.rawValue)))
    }
    func value(_ text: some StringProtocol) throws -> Int {
      guard let value = Self.thousandths(text, unit: kind.unit),
        (1_000 * kind.range.lowerBound...1_000 * kind.range.upperBound).contains(value),
        kind != .jpeg || value % 1_000 == 0
      else {
        throw Self.bad(
          "'\(text)' is not a strength of \(kind.rawValue)",
          "Write \(kind.range.lowerBound)\(kind.unit) to \(kind.range.upperBound)\(kind.unit), "
            + "as one value, as 5..20, or as 5|10|20")
      }
      return value
    }
    var strengths: [Int] = []
    for part in parts[1].split(separator: "|", omittingEmptySubsequences: false) {
      guard let dots = part.firstRange(of: "..") else {
        strengths.append(try value(part))
        continue
      }
      let (low, high) = (try value(part[..<dots.lowerBound]), try value(part[dots.upperBound...]))
      guard low < high, steps > 1 else {
        throw Self.bad(
          "'\(part)' does not rise", "Write the smaller end first, and 2 steps or more")
      }
      // A quality is an integer.
      let grain = kind == .jpeg ? 1_000 : 1
      strengths += (0..<steps).map { step in
        low + ((high - low) / grain * step + (steps - 1) / 2) / (steps - 1) * grain
      }
    }
    guard strengths.count <= Self.stepsMax else {
      throw Self.bad("'\(text)' has more than \(Self.stepsMax) strengths", "Write fewer")
    }
    self.kind = kind
    self.strengths = Set(strengths).sorted()
  }

  /// `-40%`, `0.75`, `300ms`, also without the unit.
  private static func thousandths(_ text: some StringProtocol, unit: String) -> Int? {
    var text = Substring(text)
    if !unit.isEmpty, text.hasSuffix(unit) { text = text.dropLast(unit.count) }
    let isNegative = text.hasPrefix("-")
    return FixedPoint.parse(text.drop { isNegative && $0 == "-" }, digits: 3)
      .map { isNegative ? -$0 : $0 }
  }

  /// `-40%`
  package static func text(_ strength: Int, _ kind: Kind) -> String {
    (strength < 0 ? "-" : "") + FixedPoint.text(abs(strength), digits: 3) + kind.unit
  }

  private static func bad(_ message: String, _ advice: String) -> SuiteError {
    SuiteError("suite.stress.bad", message, advice: advice)
  }

  // MARK: Effects

  /// The options of the stage `perturb`; `nil` for faults of the camera.
  func stageOptions(_ strength: Int, seed: UInt64) -> JSONValue? {
    let value: JSONValue =
      kind == .jpeg ? .integer(Int64(strength / 1_000)) : .number(Double(strength) / 1_000)
    switch kind {
    case .drop, .freeze, .jitter: return nil
    // Only noise is drawn.
    case .noise:
      return .object([kind.rawValue: value, "seed": .integer(Int64(clamping: seed))])
    case .brightness, .blur, .jpeg: return .object([kind.rawValue: value])
    }
  }

  /// The override of the case; `nil` for stages.
  func override(_ strength: Int, seed: UInt64) -> CaseOverride? {
    var faults = CameraFaults()
    faults.seed = seed
    switch kind {
    case .drop: faults.drop = strength
    case .freeze: faults.freeze = .microseconds(strength)
    case .jitter: faults.jitter = .microseconds(strength)
    case .brightness, .noise, .blur, .jpeg: return nil
    }
    return .camera(faults)
  }
}
