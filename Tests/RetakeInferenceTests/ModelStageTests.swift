import Foundation
import Retake
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeStages
import RetakeTestFrames
import RetakeTestSupport
import Testing

@testable import RetakeInference

/// Stages with small models that the tests write themselves.
@Suite struct ModelStageTests {
  private static let hasLibrary = (try? OnnxLibrary.load()) != nil
  private static let reason: Comment = SkipReason.noOnnxRuntime

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder("retake-model-stages") }

  /// Scores the three channels of its input by their mean levels.
  private static func channels(producer: String = "a") -> OnnxModelFile {
    var file = OnnxModelFile(
      inputs: [.init("images", .float, [1, 3, 8, 8])], outputs: [.init("scores", .float, [1, 3])],
      nodes: [
        .init("GlobalAveragePool", inputs: ["images"], outputs: ["mean"]),
        .init("Flatten", inputs: ["mean"], outputs: ["scores"]),
      ])
    file.metadata = [("producer", producer)]
    return file
  }

  /// The same for any number of images. If they are mixed, the brightest one changes the others.
  private static func batched(isMixed: Bool, output: OnnxModelFile.Length = "n") -> OnnxModelFile {
    var file = OnnxModelFile(
      inputs: [.init("images", .float, ["n", 3, 8, 8])],
      outputs: [.init("scores", .float, [output, 3])],
      nodes: [
        .init("GlobalAveragePool", inputs: ["images"], outputs: ["mean"]),
        .init("Flatten", inputs: ["mean"], outputs: [isMixed ? "flat" : "scores"]),
      ])
    guard isMixed else { return file }
    file.nodes += [
      .init("ReduceMax", inputs: ["flat"], outputs: ["level"], ["keepdims": .integer(0)]),
      .init("Mul", inputs: ["flat", "level"], outputs: ["scores"]),
    ]
    return file
  }

  /// Always finds two boxes in an input of 8x8.
  private static let boxes = OnnxModelFile(
    inputs: [.init("images", .float, [1, 3, 8, 8])], outputs: [.init("boxes", .float, [2, 6])],
    constants: [
      .init("fixed", [2, 2, 6, 4, 0.75, 0, 0, 0, 4, 8, 0.5, 1] as [Float], shape: [2, 6]),
      .init("zero", [0] as [Float], shape: [1]),
    ],
    nodes: [
      .init("GlobalAveragePool", inputs: ["images"], outputs: ["mean"]),
      .init("ReduceMax", inputs: ["mean"], outputs: ["level"], ["keepdims": .integer(0)]),
      .init("Mul", inputs: ["level", "zero"], outputs: ["nothing"]),
      .init("Add", inputs: ["fixed", "nothing"], outputs: ["boxes"]),
    ])

  private func write(_ model: OnnxModelFile, sidecar: String? = nil) throws -> String {
    if let sidecar { try folder.write(sidecar, to: "m.model.json") }
    return try model.write(to: folder.file("m.onnx"))
  }

  private func picture(red: Int, green: Int, blue: Int) -> Frame {
    frame(.rgb, 16, 16) { _, _, x in [red, green, blue][x % 3] }
  }

  @Test(.enabled(if: hasLibrary, reason), arguments: [("RGB", "red"), ("BGR", "blue")])
  func `a classifier names the channel that is brightest, in the order of its input`(
    order: String, expected: String
  ) throws {
    let path = try write(
      Self.channels(),
      sidecar: """
        {"v": 1, "input": {"scale_values": [255], "color_space": "\(order)"},
         "output": {"decoder": "softmax", "topk": 1}, "labels": ["red", "green", "blue"]}
        """)
    let stage = try Classify(options: ModelOptions(model: path))
    let classes = try stage.process(picture(red: 250, green: 20, blue: 10), anyContext)
    #expect(classes.items.map(\.label) == [expected])
  }

  @Test(.enabled(if: hasLibrary, reason), arguments: [false, true])
  func `the frames of a batch are one tensor of the model`(isMixed: Bool) throws {
    let path = try write(
      Self.batched(isMixed: isMixed),
      sidecar: """
        {"v": 1, "input": {"scale_values": [255]}, "output": {"decoder": "softmax"}}
        """)
    let stage = try Classify(options: ModelOptions(model: path))
    let frames = [picture(red: 10, green: 90, blue: 30), picture(red: 250, green: 20, blue: 10)]
    let body = try #require(AnyStage(stage).batchBody)
    let found = body(frames.map { (input: $0, context: anyContext) })
      .compactMap { (try? $0.get()) as? Classes }
    try #require(found.count == 2)
    let single = try frames.map { try stage.process($0, anyContext) }
    #expect(found[1] == single[1])
    // Only one tensor of both frames can change the first result.
    #expect((found[0] == single[0]) == !isMixed)
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `a model whose output is not declared for each image is computed frame by frame`() throws {
    let sidecar = #"{"v": 1, "output": {"decoder": "softmax"}}"#
    for model in [Self.channels(), Self.batched(isMixed: false, output: "m")] {
      let path = try write(model, sidecar: sidecar)
      #expect(AnyStage(try Classify(options: ModelOptions(model: path))).batchBody == nil)
    }
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `boxes are in pixels of the frame, and the node comes before the sidecar`() throws {
    let path = try write(
      Self.boxes,
      sidecar: """
        {"v": 1, "output": {"decoder": "boxes-xyxy-score-class", "confidence_threshold": 0.9}}
        """)
    var options = ModelOptions(model: path)
    #expect(
      try Detect(options: options).process(picture(red: 1, green: 2, blue: 3), anyContext).items
        .isEmpty)
    options.output = .object(["confidence_threshold": .number(0.6)])
    let found = try Detect(options: options).process(
      picture(red: 1, green: 2, blue: 3), anyContext)
    #expect(found.items.map(\.box) == [Box(x: 4, y: 4, width: 8, height: 4)])
    #expect(found.items.map(\.score) == [0.75])
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `the same model is loaded once, and another file or option has another fingerprint`()
    throws
  {
    let sidecar = #"{"v": 1, "output": {"decoder": "softmax"}}"#
    let path = try write(Self.channels(), sidecar: sidecar)
    let first = try Classify(options: ModelOptions(model: path))
    let second = try Classify(options: ModelOptions(model: path))
    #expect(first.fingerprint == second.fingerprint && !first.fingerprint.isEmpty)
    var options = ModelOptions(model: path)
    options.output = .object(["topk": .integer(1)])
    #expect(try Classify(options: options).fingerprint != first.fingerprint)
    _ = try write(Self.channels(producer: "b"), sidecar: sidecar)
    #expect(
      try Classify(options: ModelOptions(model: path)).fingerprint != first.fingerprint)
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `each label counts in the fingerprint, also those that a table leaves out`() throws {
    func fingerprint(last: String) throws -> String {
      let labels = ["a", "b", "c", "d", "e", "f", last].map { "\"\($0)\"" }
      let path = try write(
        Self.channels(),
        sidecar: """
          {"v": 1, "output": {"decoder": "softmax"}, "labels": [\(labels.joined(separator: ", "))]}
          """)
      return try Classify(options: ModelOptions(model: path)).fingerprint
    }
    #expect(try fingerprint(last: "g") != fingerprint(last: "h"))
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `a document names what is wrong with a model before the first frame`() throws {
    let path = try write(
      Self.channels(), sidecar: #"{"v": 1, "output": {"decoder": "softmax"}}"#)
    func problem(_ kind: String, _ options: [String: JSONValue]) -> String {
      do {
        _ = try StageRegistry.builtIn.make(kind: kind, options: .object(options))
        return "nothing"
      } catch {
        guard let error = error as? OptionProblem else { return "\(error)" }
        return ["\(error.pointer) \(error.message)", error.advice].compactMap(\.self)
          .joined(separator: ". ")
      }
    }
    #expect(problem("classify", [:]) == "/model 'model' must name an .onnx file")
    #expect(problem("classify", ["model": .string(path)]) == "nothing")
    #expect(problem("detect", ["model": .string(path)]).contains("returns no boxes for 'detect'"))
    let missing = problem("detect", ["model": .string(path + "x")])
    #expect(missing.contains(path + "x: ") && missing.contains("(there is no such file)"))
    let odd: [String: JSONValue] = [
      "model": .string(path), "input": .object(["pad_vale": .integer(3)]),
    ]
    #expect(problem("classify", odd).contains("unknown key 'pad_vale'"))
    try Data("not a model".utf8).write(to: URL(fileURLWithPath: path))
    #expect(problem("classify", ["model": .string(path)]) != "nothing")
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `a sidecar that names another file's digest is refused`() throws {
    let path = try write(
      Self.channels(),
      sidecar: """
        {"v": 1, "sha256": "\(String(repeating: "0", count: 64))", "output": {"decoder": "softmax"}}
        """)
    let error = #expect(throws: ModelDocumentError.self) {
      try Classify(options: ModelOptions(model: path))
    }
    #expect(error?.message.contains("'sha256' does not fit the model") == true)
  }

  /// Options of a stage with a model of this name.
  private func options(_ name: String, _ file: OnnxModelFile, sidecar: String) throws -> JSONValue {
    .object(["model": .string(try file.write(name, sidecar: sidecar, into: folder))])
  }

  private func softmax(_ label: String) -> String {
    """
    {"v": 1, "output": {"decoder": "softmax", "topk": 1},
     "labels": ["\(label)", "\(label)", "\(label)"]}
    """
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `a live pipeline continues with another model, and with its own if the other does not fit`()
    async throws
  {
    let stages = StageRegistry.builtIn
    let old = try Self.channels().write("old", sidecar: softmax("old"), into: folder)
    let new = try options("new", Self.channels(producer: "b"), sidecar: softmax("new"))
    let boxes = try options(
      "boxes", Self.boxes, sidecar: #"{"v": 1, "output": {"decoder": "boxes-xyxy-score-class"}}"#)
    let pipeline = try Pipeline.named("mood").source(.session()).classify(model: old, id: "mood")
      .results("labels")
    let session = try LiveSession(
      pipeline, tracks: [LiveTrack(format: .rgb, width: 16, height: 16)], catalog: stages)
    var results = session.results.makeAsyncIterator()
    var time = 0
    // Each result is awaited, so that no frame finds a full queue.
    func labels() async throws -> [String] {
      time += 1
      session.push(
        frame(.rgb, 16, 16, at: time) { _, _, x in x % 3 })
      let result = try #require(await results.next())
      guard case .facts(let facts)? = result.frame.result.outcomes.first?.content else { return [] }
      return facts.map { "\($0)" }
    }
    let first = try await labels()
    #expect(first.count == 1 && first[0].contains("old"))
    #expect(throws: OptionProblem.self) {
      try stages.make(kind: "classify", options: .object(["model": .string("nothing.onnx")]))
    }
    let detector = try stages.make(kind: "detect", options: boxes)
    await #expect(throws: RuntimeError.swapRefused(node: "mood", code: "swap.outputMismatch")) {
      try await session.swap("mood", to: detector)
    }
    #expect(try await labels() == first)
    try await session.swap("mood", to: try stages.make(kind: "classify", options: new))
    #expect(try await labels() == first.map { $0.replacing("old", with: "new") })
    let outcome = try await session.stop()
    #expect(outcome.headline.captured == 3 && outcome.headline.delivered == 3)
  }
}
