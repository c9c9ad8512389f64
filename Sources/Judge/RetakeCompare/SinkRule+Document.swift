package import RetakeCore

extension SinkRule: Encodable {
  /// The keys of the YAML form, in order.
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case mode, iou, position, score, scalar, relative, rmsMax, correlationMin, lagMax
    case psnrMin, ssimMin, densestMax, pictureEvery
    case maskIoUMin, cosineMax
    case unmatchedMax, driftPer1000, order
  }

  /// Numbers of 0 or more, and the properties that hold them.
  package static let tolerances:
    [(key: CodingKeys, path: any WritableKeyPath<SinkRule, Double> & Sendable)] = [
      (.iou, \.iou), (.position, \.position), (.score, \.score), (.scalar, \.scalar),
      (.relative, \.relative), (.rmsMax, \.rmsMax), (.correlationMin, \.correlationMin),
      (.psnrMin, \.psnrMin), (.ssimMin, \.ssimMin), (.densestMax, \.densestMax),
      (.driftPer1000, \.driftPer1000), (.maskIoUMin, \.maskIoUMin), (.cosineMax, \.cosineMax),
    ]

  /// The limits of images that a rule with `limitsImages` always states.
  private static let imageKeys: Set<CodingKeys> = [.psnrMin, .ssimMin, .densestMax]

  /// Integers of 0 or more, and the properties that hold them.
  package static let counts:
    [(key: CodingKeys, path: any WritableKeyPath<SinkRule, Int> & Sendable)] = [
      (.lagMax, \.lagMax), (.pictureEvery, \.pictureEvery), (.unmatchedMax, \.unmatchedMax),
    ]

  /// Tolerances that are fractions.
  private static let fractions: Set<CodingKeys> = [
    .iou, .correlationMin, .ssimMin, .densestMax, .relative, .maskIoUMin,
  ]

  /// Reads a rule of retake.yml or golden.yml. Keys that are absent have their defaults.
  ///
  /// - Parameter mode: The mode of a rule without `mode`.
  package init<Failure>(
    _ decoder: StrictDecoder<Failure>, mode: Mode
  ) throws {
    let fields = try decoder.object(CodingKeys.allCases.map(\.rawValue))
    self.init(mode: try fields["mode"]?.choice("a mode") ?? mode)
    order = try fields["order"]?.choice("an order") ?? order
    limitsImages =
      self.mode != .exact && self.mode != .pictures
      && Self.imageKeys.contains { fields[$0.rawValue] != nil }
    for (key, path) in Self.tolerances {
      guard let field = fields[key.rawValue] else { continue }
      let value = try field.tolerance()
      guard value <= 1 || !Self.fractions.contains(key) else {
        throw field.wrong(
          "\(key.rawValue) is 0 to 1", advice: "Write, for example: \(key.rawValue): 0.5")
      }
      self[keyPath: path] = value
    }
    for (key, path) in Self.counts {
      guard let field = fields[key.rawValue] else { continue }
      let value = try field.integer(in: 0...Int.max, "a count is a whole number, 0 or more")
      guard value >= 1 || key != .pictureEvery else {
        throw field.wrong(
          "pictureEvery is 1 or more", advice: "Write, for example: pictureEvery: 30")
      }
      self[keyPath: path] = value
    }
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
    case .pictures: keys = Self.imageKeys
    }
    if limitsImages { keys.formUnion(Self.imageKeys) }
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
