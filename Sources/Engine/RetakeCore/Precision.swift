/// The steps to which a sink's numbers are rounded before they are written, compared and digested.
///
/// Each step is a power of ten, 10^-d with d from 0 to 9. The results node declares it as
/// `"precision": {"box": 0.1, "score": 0.0001, "scalar": 0.001}`; omitted fields have their
/// defaults.
package struct Precision: Hashable, Sendable {
  /// Decimal places of box coordinates, in pixels.
  package private(set) var boxDecimals = 1
  /// Decimal places of scores of detections and labels.
  package private(set) var scoreDecimals = 4
  /// Decimal places of scalars, and of the rates and samples of waveforms.
  package private(set) var scalarDecimals = 3

  /// Boxes to 0.1, scores to 0.0001, scalars to 0.001.
  package static let `default` = Precision()

  private init() {}

  /// Steps are given as numbers; `nil` is the default.
  ///
  /// - Throws: `ResultTextError.precision` for a precision that is not a power of ten from 1 to
  ///   10^-9.
  package init(
    box: Double? = nil, score: Double? = nil, scalar: Double? = nil
  ) throws {
    if let box { boxDecimals = try Self.decimals(box, named: .box) }
    if let score { scoreDecimals = try Self.decimals(score, named: .score) }
    if let scalar { scalarDecimals = try Self.decimals(scalar, named: .scalar) }
  }

  /// The distance between two adjacent box coordinates.
  package var box: Double { Self.steps[boxDecimals] }
  /// The distance between two adjacent scores.
  package var score: Double { Self.steps[scoreDecimals] }
  /// The distance between two adjacent scalars.
  package var scalar: Double { Self.steps[scalarDecimals] }

  /// The valid steps, by their decimal places.
  static let steps = [1, 0.1, 0.01, 0.001, 0.0001, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9]

  private static func decimals(
    _ precision: Double, named name: CodingKeys
  ) throws -> Int {
    // Compared exactly: the 0.1 of a document and the literal 0.1 parse to the same Double.
    guard let decimals = steps.firstIndex(of: precision) else {
      throw ResultTextError.precision(name: name.rawValue, value: precision)
    }
    return decimals
  }
}

extension Precision: Codable {
  /// The keys of the JSON and YAML form, in order.
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case box, score, scalar
  }

  /// Unknown keys are left to the caller, which knows the place in the document.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      box: container.decodeIfPresent(Double.self, forKey: .box),
      score: container.decodeIfPresent(Double.self, forKey: .score),
      scalar: container.decodeIfPresent(Double.self, forKey: .scalar))
  }

  /// A default scalar precision is omitted.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(box, forKey: .box)
    try container.encode(score, forKey: .score)
    if scalarDecimals != Self.default.scalarDecimals {
      try container.encode(scalar, forKey: .scalar)
    }
  }
}

extension Precision {
  /// Reads the steps of retake.yml and golden.yml. Keys that are absent have their defaults.
  package init<Failure>(_ decoder: StrictDecoder<Failure>) throws {
    let steps = try Self.given(in: decoder)
    func decimals(_ key: CodingKeys) -> Int? {
      steps[key.rawValue].flatMap { Self.steps.firstIndex(of: $0) }
    }
    self.init()
    boxDecimals = decimals(.box) ?? boxDecimals
    scoreDecimals = decimals(.score) ?? scoreDecimals
    scalarDecimals = decimals(.scalar) ?? scalarDecimals
  }

  /// The steps that a document sets, by key, without the defaults.
  package static func given<Failure>(
    in decoder: StrictDecoder<Failure>
  ) throws -> [String: Double] {
    let keys = CodingKeys.allCases.map(\.rawValue)
    let fields = try decoder.object(keys)
    var result: [String: Double] = [:]
    for key in keys {
      guard let field = fields[key] else { continue }
      let precision = try field.tolerance()
      guard steps.contains(precision) else {
        throw field.wrong(
          "a precision is a power of ten, from 1 to 0.000000001",
          advice: "Write, for example: \(key): 0.01")
      }
      result[key] = precision
    }
    return result
  }
}
