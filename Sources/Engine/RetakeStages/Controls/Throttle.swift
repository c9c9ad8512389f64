import RetakeCore
public import RetakeGraph

/// Thins frames by their time. The engine executes it, for any kind of value.
///
/// Options: `fps`, frames per second (default 15), above 0 and at most 1,000; and `when`, a list of
/// rules such as `{"thermal": "serious", "fps": 15}` or `{"temperature": "45C", "fps": 30}` for
/// states of the device. The lowest rate that
/// applies is used. With rules `fps` may be 0: then all frames pass while no rule matches.
enum Throttle {
  static let signature = StageSignature(
    kind: "throttle", version: 1, role: .throttle, input: nil, output: nil,
    summary: "lets at most N frames a second through, by their time")

  static let options = [
    StageOption(
      "fps", defaultValue: .number(15),
      explanation: "frames per second that pass, above 0 and at most 1000; 0 with rules: unlimited"
    ),
    StageOption(
      "when", defaultValue: .array([]),
      explanation: "rules for states of the device, at most 64: "
        + #"{"thermal": "serious", "fps": 10}, {"temperature": "45C", "fps": 15}; "#
        + "the lowest rate applies"),
  ]

  /// Maximum number of rules of one throttle.
  static let rulesMax = 64

  static func stage(_ policy: DevicePolicy) throws -> AnyStage {
    let least = policy.rules.isEmpty ? "above 0" : "0 (no limit) or above"
    // 0 means no limit. Without a rule such a throttle would never thin a frame.
    guard policy.fps > 0 || policy.fps == 0 && !policy.rules.isEmpty,
      policy.fps <= DeviceRule.fpsMax
    else {
      throw OptionProblem(
        pointer: "/fps", message: "'fps' must be \(least) and at most 1000, is \(policy.fps)")
    }
    guard policy.rules.count <= rulesMax else {
      throw OptionProblem(
        pointer: "/when", message: "'when' has at most \(rulesMax) rules, not \(policy.rules.count)"
      )
    }
    // Rules from the DSL are checked in the same way as rules of a document.
    for (index, rule) in policy.rules.enumerated() {
      _ = try DeviceRule(StrictDecoder(rule.json, at: "/when/\(index)"))
    }
    return AnyStage(
      signature: signature,
      options: .object([
        "fps": .number(policy.fps), "when": .array(policy.rules.map(\.json)),
      ]), body: .throttle(policy))
  }

  static func stage(reading options: JSONValue) throws -> AnyStage {
    let fields = try StrictDecoder<OptionProblem>(options).object(["fps", "when"])
    var policy = DevicePolicy(fps: try fields["fps"]?.number() ?? 15)
    policy.rules = try fields.elements("when").map(DeviceRule.init(_:))
    return try stage(policy)
  }
}

extension PipelineChain {
  /// Passes at most a number of frames per second, by their time.
  ///
  /// - Parameters:
  ///   - fps: Frames per second, above 0 and at most 1,000. With rules it may be 0: then all frames
  ///     pass while no rule matches.
  ///   - rules: Rates for states of the device; the lowest rate that applies is used.
  ///   - id: The node's ID; by default the kind, with a number from the second node of a kind on.
  public func throttle(
    fps: Double, when rules: [DeviceRule] = [], id: String? = nil
  ) -> PipelineChain<Output> {
    passing(built { try Throttle.stage(DevicePolicy(fps: fps, rules: rules)) }, id: id)
  }

  /// Passes at most a number of frames per second, without rules; see `throttle(fps:when:id:)`.
  public func throttle(to fps: Double, id: String? = nil) -> PipelineChain<Output> {
    throttle(fps: fps, id: id)
  }
}
