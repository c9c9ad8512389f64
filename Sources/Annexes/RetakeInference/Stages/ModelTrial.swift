package import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeRuntime

/// A model on one frame, with the facts that a person needs to judge it.
package struct ModelTrial: Sendable {
  /// How often the model is computed; the fastest times count.
  package static let runs = 5

  /// The picture that the model reads: scaled and padded, before mean and scale, as RGB24.
  package let picture: Frame
  private let runner: ModelRunner
  private let frame: Frame

  /// Loads the model, and makes its input.
  ///
  /// - Throws: `OptionError`, `InferenceError`, `ModelDocumentError` or `DecodingMismatch` for a
  ///   model that cannot be used.
  package init(_ options: ModelOptions, frame: Frame) throws {
    // As a pipeline converts it before the model.
    self.frame =
      frame.format.isBasic
      ? frame : try MediaScaler().scale(frame, format: frame.format.nearestBasic)
    runner = try ModelRunner.runner(options)
    picture = runner.preprocessor.picture(self.frame)
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

  /// The model's results for the frame, its times, and suspicions.
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
