import RetakeCore
public import RetakeGraph

/// The condition of a route. A value either matches or not. For a join, the first part of the
/// rule's kind is checked. A value of any other kind does not match.
public enum RouteRule: Hashable, Sendable {
  /// The number of detections is within the bounds, inclusive. If `scoreMin` or `label` is set,
  /// only detections with at least that score and with that class count.
  case detections(
    countMin: Int = 1, countMax: Int? = nil, scoreMin: Double? = nil, label: String? = nil)
  /// The first number with that name is within the bounds, inclusive. NaN is never within bounds.
  case scalar(name: String, min: Double? = nil, max: Double? = nil)
  /// One of the labels is `label`; if `scoreMin` is set, with at least that score.
  case classified(label: String, scoreMin: Double? = nil)

  /// Whether the value goes to `match`.
  package func matches(_ value: any PipelineValue) -> Bool {
    switch self {
    case .detections(let countMin, let countMax, let scoreMin, let label):
      guard let found = value.firstPart(Detections.self) else { return false }
      let count = found.items.count { item in
        isEnough(item.score, scoreMin) && (label.map { found.label(of: item) == $0 } ?? true)
      }
      return count >= countMin && count <= countMax ?? .max
    case .scalar(let name, let min, let max):
      guard let number = value.firstPart(Scalars.self)?[name] else { return false }
      return number >= min ?? -.infinity && number <= max ?? .infinity
    case .classified(let label, let scoreMin):
      let items = value.firstPart(Classes.self)?.items ?? []
      return items.contains { $0.label == label && isEnough($0.score, scoreMin) }
    }
  }

  private func isEnough(_ score: Double, _ least: Double?) -> Bool {
    least.map { score >= $0 } ?? true
  }
}

extension PipelineValue {
  /// This value, or the first part of a join that has the type.
  fileprivate func firstPart<Value: PipelineValue>(_ type: Value.Type) -> Value? {
    self as? Value ?? (self as? Joined)?.values(type).first
  }
}

extension Detections {
  /// The name of a detection's class, if it has one.
  func label(of item: Detection) -> String? {
    classNames.indices.contains(item.classIndex) ? classNames[item.classIndex] : nil
  }
}

extension AnyStage {
  /// Sends each frame to the port `match` or to the port `else`, by its value.
  public static func route(_ rule: RouteRule) -> AnyStage {
    built { try Route.stage(rule) }
  }
}

/// Routes frames to one of two ports. The engine executes it, and waits for each value.
enum Route {
  static let signature = StageSignature(
    kind: "route", version: 1, role: .route, input: nil, output: nil,
    summary: "sends each frame to the port match or else, by its value")

  /// A document sets exactly one of these options.
  static let options = [
    StageOption(
      "class", defaultValue: nil,
      explanation: #"to match if a label is this one: {"label": "red", "scoreMin": 0.5}"#),
    StageOption(
      "detections", defaultValue: nil,
      explanation: "to match if there are that many: "
        + #"{"countMin": 1, "countMax": 5, "scoreMin": 0.5, "label": "person"}"#),
    StageOption(
      "scalar", defaultValue: nil,
      explanation: "to match if a number is within bounds: "
        + #"{"name": "mean", "min": 10, "max": 200}"#),
  ]

  static let ports = ["match", "else"]

  static func stage(_ rule: RouteRule) throws -> AnyStage {
    try rule.check()
    // 0 and 1 are places in `ports`.
    return .route(signature, options: rule.json, ports: ports) { rule.matches($0) ? 0 : 1 }
  }

  static func stage(reading options: JSONValue) throws -> AnyStage {
    try stage(RouteRule(json: options))
  }
}
