import Foundation
import RetakeTestSupport
import Testing

/// `retake model check`, with small models that the tests write themselves.
@Suite struct ModelCheckTests {
  private static let softmax = #""output": {"decoder": "softmax"}"#
  private static let scaled =
    #"{"v": 1, "input": {"scale_values": [255], "resize_type": "standard"}, "#

  /// Finds two boxes of other sizes in every picture of 64x48.
  private static let boxes = OnnxModelFile(
    inputs: [.init("images", .float, [1, 3, 48, 64])],
    outputs: [.init("boxes", .float, [2, 6])],
    constants: [
      .init("zero", [0] as [Float], shape: [1]),
      .init(
        "result", [8, 8, 24, 24, 0.9, 0, 40, 16, 56, 40, 0.8, 0] as [Float], shape: [2, 6]),
    ],
    nodes: [
      .init("ReduceMax", inputs: ["images"], outputs: ["most"], ["keepdims": .integer(0)]),
      .init("Mul", inputs: ["most", "zero"], outputs: ["nothing"]),
      .init("Add", inputs: ["result", "nothing"], outputs: ["boxes"]),
    ])

  private let workplace: Workplace

  init() throws {
    workplace = try Workplace()
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc=size=64x48", "-frames:v", "1", "photo.png")
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "color=black:size=64x48", "-frames:v", "1", "black.png")
  }

  /// Scores the three channels of its input by their mean levels.
  private func write(
    type: OnnxModelFile.Element = .float, last: String = "Identity", sidecar: String
  ) throws {
    let model = OnnxModelFile(
      inputs: [.init("images", type, [1, 3, 8, 8])], outputs: [.init("scores", .float, [1, 3])],
      nodes: [
        .init("Cast", inputs: ["images"], outputs: ["floats"], ["to": .integer(1)]),
        .init("GlobalAveragePool", inputs: ["floats"], outputs: ["mean"]),
        .init("Flatten", inputs: ["mean"], outputs: ["flat"]),
        .init(last, inputs: ["flat"], outputs: ["scores"]),
      ])
    try model.write(to: workplace.folder.file("m.onnx"))
    try workplace.folder.write(sidecar, to: "m.model.json")
  }

  private func check(_ arguments: String..., more: [String] = []) throws -> CommandResult {
    try workplace.retake(words: ["model", "check", "m.onnx"] + arguments + more)
  }

  /// The codes of the warnings about a picture.
  private func warnings(_ picture: String = "photo.png") throws -> [String] {
    let result = try check(picture, "--json")
    try #require(result.status == 0, "\(result.stderr)")
    let warnings = try result.json().warnings
    return (0..<warnings.count).compactMap { warnings[$0].code.text }
  }

  @Test(.enabled(if: ModelCommandTests.hasLibrary, ModelCommandTests.reason))
  func `it writes what the model sees, and says what it gives`() throws {
    try write(sidecar: Self.scaled + Self.softmax + #", "labels": ["red", "green", "blue"]}"#)
    let result = try check("photo.png", "--output", "seen.png", "--json")
    #expect(result.status == 0, "\(result.stderr)")
    let json = try result.json()
    #expect(json.frameSize.width.int == 64 && json.inputSize.height.int == 8)
    #expect(json.results.count == 3 && json.warnings.count == 0, "\(result.stdout)")
    #expect(["red", "green", "blue"].contains(json.results[0].label.text))
    #expect((json.times.computeNanoseconds.int ?? 0) > 0)
    // Of a PNG's header: width and height are the bytes 16 to 23.
    let seen = try Data(contentsOf: workplace.folder.file("seen.png"))
    #expect(Array(seen.prefix(24).dropFirst(16)) == [0, 0, 0, 8, 0, 0, 0, 8])
    let text = try check("photo.png")
    #expect(text.stdout.contains("input    8x8, the frame in 8x8 at 0,0; numbers 0"))
    #expect(text.stdout.contains("decoder  softmax: 3 results"), "\(text.stdout)")
  }

  @Test(.enabled(if: ModelCommandTests.hasLibrary, ModelCommandTests.reason))
  func `a frame of a session is named by its number, with or without its track`() throws {
    try write(sidecar: Self.scaled + Self.softmax + "}")
    try workplace.record("yard", frames: 6, size: "64x48")
    let frames = try [[], ["--frame", "5"], ["--frame", "0:5"]].map { option in
      let result = try workplace.retake(
        words: ["model", "check", "m.onnx", "yard", "--output", "seen.png"] + option)
      #expect(result.status == 0, "\(result.stderr)")
      return try Data(contentsOf: workplace.folder.file("seen.png"))
    }
    #expect(frames[1] == frames[2] && frames[0] != frames[1])
    let beyond = try check("yard", "--frame", "6")
    #expect(beyond.status == 2 && beyond.stderr.contains("0:6"), "\(beyond.stderr)")
  }

  @Test(.enabled(if: ModelCommandTests.hasLibrary, ModelCommandTests.reason))
  func `a frame beyond the tenth and one of another track are the ones that are named`() throws {
    try write(sidecar: Self.scaled + Self.softmax + "}")
    // Gray that is lighter in each frame, and in the second track darker.
    let gray = "color=gray:size=64x48:rate=10:duration=1.4"
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "\(gray),geq=lum='16+12*N':cb=128:cr=128",
      "-f", "lavfi", "-i", "\(gray),geq=lum='230-12*N':cb=128:cr=128",
      "-map", "0", "-map", "1", "-c:v", "ffv1", "two.mkv")
    let imported = try workplace.retake("import", "two.mkv", "--name", "two")
    try #require(imported.status == 0, "\(imported.stderr)")
    func level(_ options: String...) throws -> Double {
      let result = try check("two", "--json", more: options)
      try #require(result.status == 0, "\(result.stderr)")
      return try #require(try result.json().largest.number)
    }
    let levels = try (0..<14).map { try level("--frame", "\($0)") }
    #expect(zip(levels, levels.dropFirst()).allSatisfy { $0 < $1 }, "\(levels)")
    let others = try (0..<14).map { try level("--frame", "1:\($0)") }
    #expect(zip(others, others.dropFirst()).allSatisfy { $0 > $1 }, "\(others)")
    #expect(try level("--frame", "0:12") == levels[12])
  }

  /// A detector of two boxes, and a classifier of the crops of its boxes.
  private func writeChain() throws {
    try Self.boxes.write(to: workplace.folder.file("boxes.onnx"))
    try workplace.folder.write(
      #"{"v": 1, "input": {"size": [64, 48], "scale_values": [255]}, "#
        + #""output": {"decoder": "boxes-xyxy-score-class"}}"#, to: "boxes.model.json")
    try workplace.folder.write(
      """
      {"v": 1, "name": "chain",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "thin", "kind": "sample", "options": {"every": 2}},
        {"id": "faces", "kind": "detect", "options": {"model": "boxes.onnx"}},
        {"id": "both", "kind": "join", "options": {"ports": ["frame", "faces"]}},
        {"id": "each", "kind": "forEach", "body": {
          "nodes": [
           {"id": "crop", "kind": "region-crop", "options": {"padding": 0}},
           {"id": "mood", "kind": "classify",
            "options": {"model": "m.onnx", "output": {"topk": 1}}}],
          "edges": [{"from": "crop", "to": "mood"}], "output": "mood"}},
        {"id": "labels", "kind": "results"}],
       "edges": [
        {"from": "camera", "to": "thin"}, {"from": "thin", "to": "faces"},
        {"from": "thin", "to": "both.frame"}, {"from": "faces", "to": "both.faces"},
        {"from": "both", "to": "each"}, {"from": "each", "to": "labels"}]}
      """, to: "chain.json")
  }

  @Test(.enabled(if: ModelCommandTests.hasLibrary, ModelCommandTests.reason))
  func `with a pipeline it computes what the node is given, with the node's options`() throws {
    try write(sidecar: Self.scaled + Self.softmax + "}")
    try writeChain()
    try workplace.record("yard", frames: 6, size: "64x48")
    func chain(_ words: String...) throws -> JSON {
      let result = try check("yard", "--pipeline", "chain.json", "--json", more: words)
      try #require(result.status == 0, "\(result.stderr)")
      return try result.json()
    }
    let first = try chain("--frame", "2")
    #expect(first.frameSize.width.int == 16 && first.frameSize.height.int == 16)
    #expect(first.results.count == 1 && first.input.text == "yard")
    let second = try chain("--frame", "2", "--item", "1", "--node", "each/mood")
    #expect(second.frameSize.width.int == 16 && second.frameSize.height.int == 24)
    let info = try workplace.retake("model", "info", "m.onnx", "--pipeline", "chain.json", "--json")
      .json()
    let topK = (0..<info.settings.count).map { info.settings[$0] }.first { $0.key.text == "topk" }
    #expect(topK?["value"].text == "1" && topK?.origin.text == "node")
    for (words, code) in [
      // The odd frames are throttled, and there are two boxes.
      (["--frame", "3"], "suite.model.notReached"),
      (["--frame", "2", "--item", "2"], "suite.model.notReached"),
      (["--node", "faces"], "suite.model.noNode"),
    ] {
      let result = try check("yard", "--pipeline", "chain.json", more: words)
      #expect(result.status == 2 && result.stdout.isEmpty, "\(words)")
      #expect(result.stderr.contains("[\(code)]"), "\(result.stderr)")
    }
    for words in [["--node", "faces"], ["--item", "1"]] {
      let result = try check("yard", more: words)
      #expect(result.status == 64 && result.stderr.contains("--pipeline"), "\(result.stderr)")
    }
  }

  @Test(.enabled(if: ModelCommandTests.hasLibrary, ModelCommandTests.reason))
  func `as many detections as are kept are a warning`() throws {
    try Self.boxes.write(to: workplace.folder.file("m.onnx"))
    for (count, codes) in [(3, []), (2, ["models.check.full"])] {
      try workplace.folder.write(
        #"{"v": 1, "input": {"size": [64, 48], "scale_values": [255]}, "#
          + #""output": {"decoder": "boxes-xyxy-score-class", "max_detections": \#(count)}}"#,
        to: "m.model.json")
      #expect(try warnings() == codes)
    }
  }

  @Test(.enabled(if: ModelCommandTests.hasLibrary, ModelCommandTests.reason))
  func `what is probably not meant is a warning`() throws {
    func sidecar(_ input: String, _ output: String = Self.softmax) -> String {
      #"{"v": 1, "input": {"resize_type": "standard"\#(input)}, \#(output)}"#
    }
    try write(sidecar: sidecar(""))
    #expect(try warnings() == ["models.check.unscaled"])
    try write(sidecar: sidecar(#", "scale_values": [1]"#))
    #expect(try warnings().isEmpty)
    let means = #", "mean_values": [0.485, 0.456, 0.406], "scale_values": [0.229, 0.224, 0.225]"#
    try write(sidecar: sidecar(means))
    #expect(try warnings() == ["models.check.fractions"])
    try write(sidecar: sidecar(#", "scale_values": [65025]"#))
    #expect(try warnings() == ["models.check.tiny"])
    try write(type: .uint8, sidecar: sidecar(#", "scale_values": [255]"#))
    // Inputs that are rounded to 0 and 1 may also have equal means, which is another warning.
    #expect(try warnings().first == "models.check.rounded")
    try write(sidecar: #"{"v": 1, "input": {"scale_values": [255]}, \#(Self.softmax)}"#)
    #expect(try warnings() == ["models.check.distorted"])
  }

  @Test(.enabled(if: ModelCommandTests.hasLibrary, ModelCommandTests.reason))
  func `outputs and scores that cannot be right are warnings`() throws {
    try write(sidecar: Self.scaled + Self.softmax + "}")
    #expect(try warnings("black.png") == ["models.check.flat", "models.check.constant"])
    try write(
      sidecar: #"{"v": 1, "input": {"scale_values": [1], "resize_type": "standard"}, "#
        + #""output": {"decoder": "probabilities"}}"#)
    #expect(try warnings() == ["models.check.score"])
    try write(
      sidecar: Self.scaled
        + #""output": {"decoder": "sigmoid-multilabel", "confidence_threshold": 0.99}}"#)
    #expect(try warnings() == ["models.check.nothing"])
    let text = try check("photo.png").stdout
    #expect(text.contains("no score is above 0.99; the best score is 0."), "\(text)")
    #expect(text.contains("lower 'confidence_threshold'"))
  }

  @Test(.enabled(if: ModelCommandTests.hasLibrary, ModelCommandTests.reason))
  func `what the model sees is written, also if its numbers cannot be used`() throws {
    try write(last: "Log", sidecar: Self.scaled + Self.softmax + "}")
    let result = try check("black.png", "--output", "seen.png")
    #expect(result.status == 2 && result.stderr.contains("[inference.decode.notFinite]"))
    #expect(workplace.exists("seen.png"))
  }

  @Test(.enabled(if: ModelCommandTests.hasLibrary, ModelCommandTests.reason))
  func `no file of a session is overwritten, and a picture has no frames`() throws {
    try write(sidecar: Self.scaled + Self.softmax + "}")
    try workplace.record("yard", frames: 3, size: "64x48")
    let before = try workplace.listing()
    for words in [
      ["yard", "--output", "Recordings/yard/seen.png"], ["photo.png", "--output", "photo.png"],
      ["photo.png", "--frame", "1"], ["photo.png", "--output", "none/seen.png"],
    ] {
      let result = try workplace.retake(words: ["model", "check", "m.onnx"] + words)
      #expect(result.status != 0 && result.stdout.isEmpty, "\(words)")
    }
    #expect(try workplace.listing() == before)
  }

  @Test func `without the library it says what to type`() throws {
    try write(sidecar: Self.scaled + Self.softmax + "}")
    let result = try workplace.retake(
      words: ["model", "check", "m.onnx", "photo.png"],
      environment: ["RETAKE_ONNXRUNTIME": "/dev/null/none"])
    #expect(result.status == 2 && result.stderr.contains("[inference.library.foreign]"))
    #expect(result.stderr.contains("pip install"), "\(result.stderr)")
  }
}
