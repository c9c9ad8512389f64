import RetakeBuffers
package import RetakeCore

/// The options of an adaptive pool, in the form of a document.
extension PoolSizing {
  private static let keys = [
    "min", "max", "predictor", "alpha", "window", "expandAbove", "expandAfter", "shrinkBelow",
    "shrinkAfter", "thermalSize", "thermalHold", "memorySize", "breakerSize", "breakerAbove",
    "breakerAfter", "resizeTime", "off",
  ]

  /// The default number of buffers at the start.
  package var defaultStart: Int { Swift.min(Swift.max(PipelinePool.defaultCapacity, min), max) }

  /// The options that differ from the defaults, under their names in a document.
  package var json: JSONValue {
    let standard = PoolSizing()
    var members: [String: JSONValue] = [:]
    // The canonical form leaves out a key that has its default, and the digest covers that form.
    for (key, path) in Self.counts where self[keyPath: path] != standard[keyPath: path] {
      members[key] = .integer(Int64(self[keyPath: path]))
    }
    for (key, path) in Self.times where self[keyPath: path] != standard[keyPath: path] {
      members[key] = .string(Duration.nanoseconds(self[keyPath: path]).unitText)
    }
    if predictor != standard.predictor { members["predictor"] = .string(predictor.rawValue) }
    // A document has a fraction. The time plane computes with integer thousandths.
    if alphaPermille != standard.alphaPermille {
      members["alpha"] = .number(Double(alphaPermille) / 1_000)
    }
    // In the order of the cases, because `off` is a Set and the digest covers this list.
    let switched = Policy.allCases.filter { off.contains($0) }
    if !switched.isEmpty { members["off"] = .array(switched.map { .string($0.rawValue) }) }
    return .object(members)
  }

  private static var counts: [(String, WritableKeyPath<PoolSizing, Int>)] {
    [
      ("min", \.min), ("max", \.max), ("expandAbove", \.expandAbove),
      ("expandAfter", \.expandAfter), ("shrinkBelow", \.shrinkBelow),
      ("shrinkAfter", \.shrinkAfter), ("thermalSize", \.thermalSize),
      ("memorySize", \.memorySize), ("breakerSize", \.breakerSize),
      ("breakerAbove", \.breakerAbove),
    ]
  }

  private static var times: [(String, WritableKeyPath<PoolSizing, Int64>)] {
    [
      ("window", \.windowNanoseconds), ("thermalHold", \.thermalHoldNanoseconds),
      ("breakerAfter", \.breakerNanoseconds), ("resizeTime", \.resizeNanoseconds),
    ]
  }

  init(_ decoder: PipelineDecoder) throws {
    let fields = try decoder.object(Self.keys)
    self.init()
    for (key, path) in Self.counts {
      self[keyPath: path] = try fields[key]?.integer() ?? self[keyPath: path]
    }
    for (key, path) in Self.times {
      self[keyPath: path] = try fields[key]?.duration().nanoseconds ?? self[keyPath: path]
    }
    predictor = try fields["predictor"]?.choice("a predictor") ?? predictor
    if let alpha = fields["alpha"] {
      alphaPermille = try Self.permille(alpha)
      guard predictor != .trend else {
        throw alpha.wrong("'trend' has no alpha", advice: "Remove alpha, or write ewma or ar1")
      }
    }
    for policy in try fields.elements("off") {
      guard off.insert(try policy.choice("a policy")).inserted else {
        throw policy.wrong("the policy is in 'off' twice", advice: "Write it once")
      }
    }
  }

  private static func permille(_ decoder: PipelineDecoder) throws -> Int {
    let alpha = try decoder.number()
    let scaled = (alpha * 1_000).rounded()
    guard (1...1_000).contains(scaled), (alpha * 1_000 - scaled).magnitude < 1e-6 else {
      throw decoder.wrong("alpha is 0.001 to 1, in thousandths", advice: "For example 0.3")
    }
    return Int(scaled)
  }
}

extension PipelinePool {
  /// Checks the options of an adaptive pool, because the methods of the DSL accept any.
  func checkSizing(at pointer: String) throws {
    guard let adaptive else { return }
    // Asked first: the range below would trap if `min` were above `max`.
    if let problem = adaptive.problem {
      throw PipelineError(
        .wrongValue(problem.detail, advice: problem.advice),
        at: "\(pointer)/adaptive/\(problem.key)")
    }
    guard (adaptive.min...adaptive.max).contains(capacity) else {
      throw PipelineError(
        .wrongValue(
          "the pool '\(id)' begins with \(counted(capacity, "buffer")), not between its min of "
            + "\(adaptive.min) and its max of \(adaptive.max)",
          advice: "Write a capacity from \(adaptive.min) to \(adaptive.max)"),
        at: "\(pointer)/capacity")
    }
  }
}
