import RetakeCore

extension SinkRule: Codable {
  /// The keys of the YAML form, in order.
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case mode, iou, position, score, scalar, relative, rmsMax, correlationMin, lagMax
    case psnrMin, ssimMin, densestMax, pictureEvery
    case unmatchedMax, driftPer1000, order
  }

  /// Numbers of 0 or more, and the properties that hold them.
  package static let tolerances:
    [(key: CodingKeys, path: any WritableKeyPath<SinkRule, Double> & Sendable)] = [
      (.iou, \.iou), (.position, \.position), (.score, \.score), (.scalar, \.scalar),
      (.relative, \.relative), (.rmsMax, \.rmsMax), (.correlationMin, \.correlationMin),
      (.psnrMin, \.psnrMin), (.ssimMin, \.ssimMin), (.densestMax, \.densestMax),
      (.driftPer1000, \.driftPer1000),
    ]

  /// Integers of 0 or more, and the properties that hold them.
  package static let counts:
    [(key: CodingKeys, path: any WritableKeyPath<SinkRule, Int> & Sendable)] = [
      (.lagMax, \.lagMax), (.pictureEvery, \.pictureEvery), (.unmatchedMax, \.unmatchedMax),
    ]

  /// The error in a rule, in words; `nil` for a valid rule.
  package var problem: String? {
    let shares = [
      (iou, "iou"), (correlationMin, "correlationMin"), (ssimMin, "ssimMin"),
      (densestMax, "densestMax"), (relative, "relative"),
    ]
    for (value, name) in shares where value > 1 { return "\(name) is 0 to 1" }
    return pictureEvery < 1 ? "pictureEvery is 1 or more" : nil
  }

  /// Missing keys have their defaults.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func bad(_ text: String) -> DecodingError {
      .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: text))
    }
    self.init()
    mode = try fields.decodeIfPresent(Mode.self, forKey: .mode) ?? mode
    order = try fields.decodeIfPresent(Order.self, forKey: .order) ?? order
    for (key, path) in Self.tolerances {
      guard let value = try fields.decodeIfPresent(Double.self, forKey: key) else { continue }
      // False for NaN, too, against which every comparison would fail.
      guard value >= 0 else { throw bad("a tolerance is 0 or more") }
      self[keyPath: path] = value
    }
    for (key, path) in Self.counts {
      guard let value = try fields.decodeIfPresent(Int.self, forKey: key) else { continue }
      guard value >= 0 else { throw bad("\(key.rawValue) is 0 or more") }
      self[keyPath: path] = value
    }
    if let problem { throw bad(problem) }
  }

  /// Writes only the keys that the mode uses. Keys that were added later are written only if they
  /// differ from the default.
  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(mode, forKey: .mode)
    let keys = writtenKeys
    for (key, path) in Self.tolerances where keys.contains(key) {
      try fields.encode(self[keyPath: path], forKey: key)
    }
    for (key, path) in Self.counts where keys.contains(key) {
      try fields.encode(self[keyPath: path], forKey: key)
    }
    if keys.contains(.order) { try fields.encode(order, forKey: .order) }
  }

  private var writtenKeys: Set<CodingKeys> {
    var keys: Set<CodingKeys>
    switch mode {
    case .exact: return []
    case .numeric: keys = [.score, .scalar, .driftPer1000]
    case .boxes: keys = [.iou, .position, .score, .unmatchedMax, .driftPer1000, .order]
    case .pictures: keys = [.psnrMin, .ssimMin, .densestMax]
    }
    let standard = SinkRule(mode: mode)
    for (key, path) in Self.tolerances where self[keyPath: path] != standard[keyPath: path] {
      keys.insert(key)
    }
    for (key, path) in Self.counts where self[keyPath: path] != standard[keyPath: path] {
      keys.insert(key)
    }
    return keys
  }
}
