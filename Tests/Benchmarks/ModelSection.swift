import Foundation
import Retake
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeInference
import RetakeRuntime
import RetakeStages
import RetakeTestSupport

/// A detector, a crop of its boxes and a classifier with two workers, compared with two plain loops
/// that only compute both models on prepared tensors; and the work around a model, one call at a
/// time.
struct ModelSection {
  private static let faces = Network(
    width: 320, height: 240, output: "boxes",
    // One box in the middle, whatever the picture shows.
    result: .init("result", [80, 60, 240, 180, 0.75, 0] as [Float], shape: [1, 6]),
    sidecar: #"{"v": 1, "output": {"decoder": "boxes-xyxy-score-class"}}"#)
  private static let moods = Network(
    width: 112, height: 112, output: "moods",
    result: .init("result", [2, 1] as [Float], shape: [1, 2]),
    sidecar: #"{"v": 1, "output": {"decoder": "softmax"}}"#)

  let scale: Scale

  func run() throws -> SectionReport {
    let count = scale.count(120, tiny: 4)
    var report = SectionReport(
      name: "models",
      title: "Detect, crop, classify, 2 workers, against 2 loops that only compute the models: "
        + "\(count) frames of 640x480", hash: Digest128(of: "nothing").description)
    let library: OnnxLibrary
    do {
      library = try OnnxLibrary.load()
    } catch {
      report.notes = ["models: ONNX Runtime is not here: \(error.facts.message)"]
      return report
    }
    let folder = try TemporaryFolder("retake-bench")
    let paths = (
      try Self.faces.write("faces", into: folder), try Self.moods.write("moods", into: folder)
    )
    let models = [
      (Self.faces, try OnnxModel(path: paths.0, library: library)),
      (Self.moods, try OnnxModel(path: paths.1, library: library)),
    ]
    let contest = try Contest(
      rounds: scale.rounds,
      [{ try self.retake(count, paths) }, { try self.loops(count, models) }])
    let rates = contest.bestSeconds.map { Double(count) / $0 }
    report.hash = contest.hash
    report.figures = [
      Figure(name: "models.retake", value: rates[0], unit: "frames/s"),
      Figure(name: "models.loops", value: rates[1], unit: "frames/s"),
      Figure(name: "models.ratio", value: rates[0] / rates[1], unit: "times"),
    ]
    report.figures += Self.figures("models.prepare", unit: "ms", of: try preparations())
    report.figures += Self.figures("models.call", unit: "us", of: try calls(library, in: folder))
    return report
  }

  private static func figures(_ name: String, unit: String, of seconds: [Double]) -> [Figure] {
    let sorted = seconds.sorted()
    let factor = unit == "ms" ? 1e3 : 1e6
    return [("min", sorted[0]), ("median", sorted[sorted.count / 2])].map {
      Figure(name: "\(name).\($0)", value: $1 * factor, unit: unit)
    }
  }

  /// From a frame of 854x480 to a tensor of floats of 640x480 with padding, one at a time.
  private func preparations() throws -> [Double] {
    let planes = [854 * 480, 427 * 240, 427 * 240].map { count in
      (0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) }
    }
    let frame = Frame(format: .i420, width: 854, height: 480, planes: planes)
    var input = ImageInput(width: 640, height: 480)
    (input.resizeType, input.scaleValues) = (.fitToWindowLetterbox, [255])
    let preprocessor = Preprocessor(input)
    return (0..<scale.count(400, tiny: 2)).map { _ in
      Timing { "\(preprocessor.prepare(frame).tensor.shape)" }.seconds
    }
  }

  /// A call of a model that only returns its input, which leaves the wrapper and the library's own
  /// work for a call.
  private func calls(_ library: OnnxLibrary, in folder: TemporaryFolder) throws -> [Double] {
    let file = OnnxModelFile(
      inputs: [.init("x", .float, [1, 4])], outputs: [.init("y", .float, [1, 4])],
      nodes: [.init("Identity", inputs: ["x"], outputs: ["y"])])
    let path = try file.write(to: folder.file("nothing.onnx"))
    let model = try OnnxModel(path: path, library: library)
    let tensor = ModelTensor(.float([1, 2, 3, 4]), shape: [1, 4])
    return try (0..<scale.count(4_000, tiny: 2)).map { _ in
      try Timing { "\(try model.run([tensor]).count)" }.seconds
    }
  }

  private func retake(_ count: Int, _ paths: (faces: String, moods: String)) throws -> String {
    let levels = (0..<640 * 480 * 3).map { UInt8(truncatingIfNeeded: $0 / 7) }
    let frame = Frame(format: .rgb, width: 640, height: 480, planes: [levels])
    let labels = Locked(0)
    let pipeline = try Pipeline.named("models")
      .source(.frames(Array(repeating: frame, count: count)))
      .detect(model: paths.faces)
      .forEach { try $0.crop(padding: 0.2).classify(model: paths.moods) }
      .sink { result in
        let found = (try? result.get().items.flatMap(\.classes))?.count ?? 0
        labels.withLock { $0 += found }
      }
    _ = try PreparedRun(pipeline, catalog: StageRegistry.builtIn).run(
      RunOptions(workers: 2), observer: SpunObserver())
    return "\(labels.withLock { $0 }) labels"
  }

  private func loops(_ count: Int, _ models: [(network: Network, model: OnnxModel)]) throws
    -> String
  {
    let inputs = models.map { ($0.model, $0.network.input) }
    let outputs = Locked(0)
    let isDone = DispatchSemaphore(value: 0)
    for part in 0..<2 {
      Thread {
        for _ in stride(from: part, to: count, by: 2) {
          for (model, input) in inputs {
            let given = (try? model.run([input]))?.count ?? 0
            outputs.withLock { $0 += given }
          }
        }
        isDone.signal()
      }.start()
    }
    for _ in 0..<2 { isDone.wait() }
    return "\(outputs.withLock { $0 }) outputs"
  }
}

/// Two convolutions as costly as in a small network, whose result does not matter.
private struct Network: Sendable {
  var width: Int
  var height: Int
  var output: String
  var result: OnnxModelFile.Constant
  var sidecar: String

  var input: ModelTensor {
    ModelTensor(
      .float([Float](repeating: 0.5, count: 3 * width * height)), shape: [1, 3, height, width])
  }

  func write(_ name: String, into folder: TemporaryFolder) throws -> String {
    var generator = SeededGenerator(seed: 3)
    func weights(_ count: Int) -> [Float] {
      (0..<count).map { _ in Float(generator.pick(-1000...1000)) / 100_000 }
    }
    let file = OnnxModelFile(
      inputs: [
        .init("images", .float, [1, 3, .fixed(Int64(height)), .fixed(Int64(width))])
      ],
      outputs: [.init(output, .float, ["rows", "columns"])],
      constants: [
        .init("first", weights(16 * 3 * 9), shape: [16, 3, 3, 3]),
        .init("second", weights(16 * 16 * 9), shape: [16, 16, 3, 3]),
        .init("zero", [0] as [Float], shape: [1]), result,
      ],
      nodes: [
        .init("Conv", inputs: ["images", "first"], outputs: ["a"]),
        .init("Relu", inputs: ["a"], outputs: ["b"]),
        .init("Conv", inputs: ["b", "second"], outputs: ["c"]),
        .init("ReduceMax", inputs: ["c"], outputs: ["most"], ["keepdims": .integer(0)]),
        .init("Mul", inputs: ["most", "zero"], outputs: ["nothing"]),
        .init("Add", inputs: ["result", "nothing"], outputs: [output]),
      ])
    return try file.write(name, sidecar: sidecar, into: folder)
  }
}
