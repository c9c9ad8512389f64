import RetakeBuffers

/// Looks for settings and results that the user probably did not intend.
struct Suspicions {
  /// A float beyond it was hardly seen in training, unless someone says so.
  private static let usualMax = 16.0
  private static let tinyMax = 0.02
  /// The fewest numbers that an input of integers keeps of 256 levels.
  private static let levelsMin = 16.0
  /// The largest ratio of the two sides' scaling factors that is not reported.
  private static let distortionMax = 1.1

  let runner: ModelRunner
  let frame: Frame
  let picture: Frame
  let prepared: Preprocessor.Prepared
  let outputs: [ModelTensor]
  let decoded: Decoded

  private var input: ImageInput { runner.settings.input }

  /// - Throws: `DecodingMismatch`.
  var all: [ModelSuspicion] {
    get throws {
      // The numbers of a frame of one color cannot be judged.
      return (isFlat ? [.flat] : numbers) + shape + constants + (try results)
    }
  }

  /// Whether a source other than the defaults has a value for the key.
  private func isGiven(_ key: String) -> Bool {
    runner.settings.rows.contains { $0.key == key && $0.origin != .standard }
  }

  private var numbers: [ModelSuspicion] {
    let (smallest, largest) = prepared.tensor.elements.range
    let (means, scales) = (input.meanValues, input.scaleValues)
    guard input.type == .float || input.type == .double else {
      let isScaled = means != [0] || scales != [1]
      return isScaled && largest - smallest < Self.levelsMin
        ? [.rounded(values: Int(largest - smallest) + 1)] : []
    }
    let isFraction = { (values: [Float]) in values.allSatisfy { $0 <= 1 } }
    if (isGiven("mean_values") && means.contains { $0 > 0 } && isFraction(means))
      || (isGiven("scale_values") && scales.contains { $0 < 1 } && isFraction(scales))
    {
      return [.fractions(smallest: smallest, largest: largest)]
    }
    let furthest = max(abs(smallest), abs(largest))
    if furthest < Self.tinyMax { return [.tiny(largest: furthest)] }
    let isSaid = isGiven("mean_values") || isGiven("scale_values")
    return !isSaid && furthest > Self.usualMax ? [.unscaled(largest: largest)] : []
  }

  private var shape: [ModelSuspicion] {
    let (source, placed) = (prepared.geometry.source, prepared.geometry.placed)
    let scales = [
      Double(placed.width) / Double(source.width), Double(placed.height) / Double(source.height),
    ].sorted()
    guard !isGiven("resize_type"), scales[1] > scales[0] * Self.distortionMax else { return [] }
    return [
      .distorted(
        frame: "\(frame.width)x\(frame.height)", input: "\(input.width)x\(input.height)")
    ]
  }

  /// Whether the frame's part of the picture has one color.
  private var isFlat: Bool {
    let placed = prepared.geometry.placed
    var (first, isSame, line) = ([UInt8](), true, 0)
    picture.forEachRow(of: 0) { row in
      defer { line += 1 }
      guard isSame, placed.y..<placed.y + placed.height ~= line else { return }
      if first.isEmpty { first = (0..<3).map { row[placed.x * 3 + $0] } }
      isSame = (placed.x..<placed.x + placed.width).allSatisfy { column in
        (0..<3).allSatisfy { row[column * 3 + $0] == first[$0] }
      }
    }
    return isSame
  }

  private var constants: [ModelSuspicion] {
    zip(runner.model.outputs, outputs).compactMap { port, tensor in
      let (smallest, largest) = tensor.elements.range
      guard tensor.elements.count > 1, smallest == largest else { return nil }
      return .constant(output: port.name, value: smallest)
    }
  }

  private var results: [ModelSuspicion] {
    get throws {
      if case .scalars = decoded { return [] }
      let found = ModelTrial.Report.results(of: decoded)
      guard let best = found.first else { return [try nothing()] }
      var all: [ModelSuspicion] = []
      if !(0...1 ~= best.value) { all.append(.score(label: best.label, best.value)) }
      if case .detections = decoded, found.count >= runner.settings.decoderSettings.maxDetections {
        all.append(.full(count: found.count))
      }
      return all
    }
  }

  private func nothing() throws -> ModelSuspicion {
    let settings = runner.settings
    var low = settings.decoderSettings
    low.confidenceThreshold = 0
    let decoder = settings.decoderName.decoder(low)
    let best = ModelTrial.Report.results(of: try decoder.decode(outputs, prepared.geometry)).first
    return .nothing(
      threshold: settings.decoderSettings.confidenceThreshold, best: best?.value)
  }
}

extension ModelTensor.Elements {
  /// The smallest and the largest number; 0 for an empty tensor.
  var range: (smallest: Double, largest: Double) {
    func bounds<Number: Comparable>(
      _ values: [Number], _ number: (Number) -> Double
    ) -> (smallest: Double, largest: Double) {
      (values.min().map(number) ?? 0, values.max().map(number) ?? 0)
    }
    return switch self {
    case .float(let values): bounds(values) { Double($0) }
    case .double(let values): bounds(values) { $0 }
    case .uint8(let values): bounds(values) { Double($0) }
    case .int32(let values): bounds(values) { Double($0) }
    case .int64(let values): bounds(values) { Double($0) }
    }
  }
}
