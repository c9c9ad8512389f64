package import RetakeBuffers
import RetakeCore
import RetakeInference
import RetakeRuntime

/// A model on one frame, with what a person needs to judge it.
package struct ModelTrial: Sendable {
  /// How often the model is computed; the fastest times count.
  package static let runs = 5

  /// What the model sees: scaled and padded, before mean and scale, as RGB24.
  package let picture: Frame
  private let runner: ModelRunner
  private let frame: Frame

  /// Loads the model, and makes its input.
  ///
  /// - Parameter model: The path of an .onnx file.
  /// - Throws: `InferenceError`, `ModelDocumentError` or `DecodingMismatch` for a model that cannot
  ///   be used.
  package init(model: String, frame: Frame) throws {
    self.frame = frame
    runner = try ModelRunner(ModelOptions(model: model))
    picture = runner.preprocessor.picture(frame)
  }

  /// Computes the model.
  ///
  /// - Throws: `InferenceError`, `DecodingMismatch`.
  package func run() throws -> Report {
    let clock = WallClock()
    var report: Report?
    for _ in 0..<Self.runs {
      let start = clock.monotonicNanoseconds
      let prepared = runner.preprocessor.prepare(frame)
      let ready = clock.monotonicNanoseconds
      let outputs = try runner.model.run([prepared.tensor])
      let computed = clock.monotonicNanoseconds
      let decoded = try runner.decoder.decode(outputs, prepared.geometry)
      let end = clock.monotonicNanoseconds
      let times = Times(prepare: ready - start, compute: computed - ready, decode: end - computed)
      if report == nil { report = try self.report(prepared, outputs, decoded, times) }
      report?.times.keepShortest(times)
    }
    guard let report else { requirementFailure("a model is computed at least once") }
    return report
  }

  private func report(
    _ prepared: Preprocessor.Prepared, _ outputs: [ModelTensor], _ decoded: Decoded, _ times: Times
  ) throws -> Report {
    let range = prepared.tensor.elements.range
    let placed = prepared.geometry.placed
    return Report(
      frame: Report.Size(width: frame.width, height: frame.height),
      input: Report.Size(width: prepared.geometry.width, height: prepared.geometry.height),
      placed: [placed.x, placed.y, placed.width, placed.height], smallest: range.smallest,
      largest: range.largest, decoder: runner.settings.decoderName.rawValue,
      results: Report.results(of: decoded), times: times,
      suspicions: try Suspicions(
        runner: runner, frame: frame, picture: picture, prepared: prepared, outputs: outputs,
        decoded: decoded
      ).all)
  }
}

extension ModelTrial {
  /// In nanoseconds of real time.
  package struct Times: Hashable, Sendable {
    /// From the frame to the model's input.
    package var prepare: Int64
    package var compute: Int64
    /// From the outputs to results.
    package var decode: Int64

    mutating func keepShortest(_ other: Times) {
      prepare = min(prepare, other.prepare)
      compute = min(compute, other.compute)
      decode = min(decode, other.decode)
    }
  }

  /// What the model gives, and how it looks.
  package struct Report: Hashable, Sendable {
    package struct Size: Hashable, Sendable, Encodable {
      package let width: Int
      package let height: Int
    }

    /// A detection, a label or a number.
    package struct Result: Hashable, Sendable, Encodable {
      package let label: String
      /// The score; of a number, the number.
      package let value: Double
      /// Left, top, width and height in pixels of the frame.
      package var box: [Double]?
      /// x and y of each point, in pixels of the frame.
      package var points: [[Double]]?
    }

    package let frame: Size
    package let input: Size
    /// Where the frame is in the input: left, top, width and height. The rest is padding.
    package let placed: [Int]
    /// The range of the numbers that the model is given.
    package let smallest: Double
    package let largest: Double
    package let decoder: String
    /// The best first.
    package let results: [Result]
    package var times: Times
    package let suspicions: [ModelSuspicion]

    static func results(of decoded: Decoded) -> [Result] {
      switch decoded {
      case .detections(let found, let landmarks):
        found.items.enumerated().map { index, item in
          let box = item.box
          return Result(
            label: found.classNames.indices.contains(item.classIndex)
              ? found.classNames[item.classIndex] : "\(item.classIndex)",
            value: item.score, box: [box.x, box.y, box.width, box.height],
            points: landmarks.indices.contains(index)
              ? landmarks[index].map { [$0.x, $0.y] } : nil)
        }
      case .classes(let classes):
        classes.items.map { Result(label: $0.label, value: $0.score) }
      case .scalars(let scalars):
        scalars.entries.map { Result(label: $0.name, value: $0.value) }
      }
    }
  }
}

/// Looks for what is probably not meant.
private struct Suspicions {
  /// A float beyond it was hardly seen in training, unless someone says so.
  private static let usualMax = 16.0
  private static let tinyMax = 0.02
  /// The fewest numbers that an input of integers keeps of 256 levels.
  private static let levelsMin = 16.0
  /// The largest ratio of the factors by which the two sides are scaled.
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
      // A frame of one colour says nothing about the numbers.
      return (isFlat ? [.flat] : numbers) + shape + constants + (try results)
    }
  }

  /// Whether the sidecar or the model's metadata say something.
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

  /// Whether the frame's part of the picture has one colour.
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
  /// The smallest and the largest number; 0 if there are none.
  fileprivate var range: (smallest: Double, largest: Double) {
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
