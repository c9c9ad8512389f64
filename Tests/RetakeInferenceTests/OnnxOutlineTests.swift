import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeInference

/// The declarations in a model's file, as they are read without the library.
@Suite struct OnnxOutlineTests {
  private typealias Port = Models.Port

  private func outline(_ file: OnnxModelFile) throws -> OnnxOutline {
    try OnnxOutline(file.bytes, model: "m.onnx")
  }

  private func refusal(_ bytes: [UInt8]) throws -> InferenceError {
    try #require(throws: InferenceError.self) { try OnnxOutline(bytes, model: "m.onnx") }
  }

  @Test func `it has format, producer, operators, ports and metadata`() throws {
    var file = Models.classifier
    file.producer = ("skl2onnx", "1.17.0")
    file.metadata = [("names", "{0: 'a'}"), ("stride", "32")]
    let outline = try outline(file)
    #expect(outline.formatVersion == 8 && outline.producer == "skl2onnx 1.17.0")
    #expect(
      outline.opsets.map { "\($0.domain) \($0.version)" } == ["ai.onnx 13", "ai.onnx.ml 3"])
    #expect(outline.inputs == [ModelPort(name: "x", type: .float, shape: [nil, 2])])
    #expect(
      outline.outputs == [
        ModelPort(name: "label", type: .int64, shape: [nil]),
        ModelPort(name: "probabilities", type: nil, shape: [], typeName: "sequence"),
      ])
    #expect(outline.metadata == ["names": "{0: 'a'}", "stride": "32"])
  }

  @Test(.enabled(if: installedLibrary != nil, SkipReason.noOnnxRuntime))
  func `it says what the library says`() throws {
    let models = try Models()
    for file in [
      Models.sum, Models.product, OnnxModelFile.tree, Models.network(seed: 3),
      Models.identity(.uint8, [2, "n"]), Models.identity(.double, []),
    ] {
      let (model, outline) = (try models.load(file), try outline(file))
      #expect(outline.inputs == model.inputs && outline.outputs == model.declaredOutputs)
      #expect(outline.metadata == model.metadata)
    }
  }

  @Test func `an input that has a value in the file is not one that a caller gives`() throws {
    var file = Models.product
    file.inputs.append(Port("w", .float, [2, 3]))
    #expect(try outline(file).inputs.map(\.name) == ["x"])
  }

  @Test func `a type that no stage converts keeps its name`() throws {
    let outline = try outline(Models.identity(.float16, [3]))
    #expect(
      outline.inputs == [ModelPort(name: "x", type: nil, shape: [3], typeName: "float16")])
  }

  @Test func `a file that is not a model is refused, wherever it was cut off`() throws {
    let bytes = Models.sum.bytes
    #expect(try refusal([]).code == "inference.model.malformed")
    #expect(try refusal(Array("<!DOCTYPE html>".utf8)).cause == "it is not a model")
    // Fields that a model could have, and no graph.
    #expect(try refusal([8, 8]).cause == "it is not a model")
    // After the graph, a cut between any two fields leaves a model.
    for count in stride(from: 1, to: bytes.count - 40, by: 3) {
      #expect(try refusal(Array(bytes.prefix(count))).code == "inference.model.malformed")
    }
  }

  @Test func `numbers in another file, and too many dimensions, are refused`() throws {
    var file = Models.product
    file.constants = [Models.Constant("w", shape: [2, 3], inFile: "../secrets.bin")]
    #expect(try refusal(file.bytes) == .external(model: "m.onnx", file: "../secrets.bin"))
    let deep = Models.identity(.float, Array(repeating: 1, count: OnnxModel.rankMax + 1))
    #expect(try refusal(deep.bytes).cause == "a tensor has more than 16 dimensions")
    var noted = Models.sum
    noted.metadata = (0...OnnxModel.metadataCountMax).map { ("key \($0)", "") }
    #expect(try refusal(noted.bytes).cause?.contains("more than 1024 entries") == true)
  }

  @Test func `flipped bits never end the process`() throws {
    var generator = SeededGenerator(seed: 4)
    let bytes = Models.classifier.bytes
    var refused = 0
    for _ in 0..<2_000 {
      var damaged = bytes
      damaged[generator.pick(0...bytes.count - 1)] ^= 1 << UInt8(generator.pick(0...7))
      do {
        _ = try OnnxOutline(damaged, model: "m.onnx")
      } catch {
        refused += 1
      }
    }
    #expect((1..<2_000).contains(refused))
  }

  @Test func `a draft has the rows before a problem, and says that the decoder is missing, too`()
    throws
  {
    let file = OnnxModelFile(
      inputs: [Port("images", .float, [1, 3, "h", "w"])],
      outputs: [Port("boxes", .float, [1, 6])],
      nodes: [Models.Node("Identity", inputs: ["images"], outputs: ["boxes"])])
    let draft = try ModelSettings.draft(of: try outline(file), at: "m.onnx")
    #expect(draft.settings == nil && draft.rows.map(\.key) == ["name", "layout"])
    #expect(draft.problems.map(\.code) == Array(repeating: "inference.settings.missing", count: 2))
    #expect(draft.problems.map(\.message).joined().contains("'size'"))
    #expect(draft.problems.map(\.message).joined().contains("'decoder'"))
    var options = ModelValues()
    options.size = PixelSize(width: 8, height: 6)
    let sized = try ModelSettings.draft(of: try outline(file), at: "m.onnx", options: options)
    #expect(sized.problems.count == 1 && sized.rows.last?.key == "interpolation")
    options.decoder = .boxes
    let whole = try ModelSettings.draft(of: try outline(file), at: "m.onnx", options: options)
    #expect(whole.problems.isEmpty && whole.settings?.rows == whole.rows)
  }

  private static let fitting: [([[Int64]], [String])] = [
    ([[12, 6]], ["boxes-xyxy-score-class"]),
    ([[1, 25200, 85]], ["yolo-v5", "yolo-v8", "ctc-text"]),
    ([[1, 84, 8400]], ["yolo-v5", "yolo-v8", "ctc-text"]),
    ([[1, 8400, 85]], ["yolo-v5", "yolo-v8", "yolox", "ctc-text"]),
    ([[1, 3]], ["softmax", "sigmoid-multilabel", "probabilities", "regression"]),
    (
      [[1, 1, 160, 160], [1, 2, 160, 160], [1, 2, 160, 160], [1, 10, 160, 160]], ["centerface"]
    ),
    ([[1, 1, 640, 640]], ["db-text"]),
  ]

  @Test(arguments: fitting)
  func `a model without a decoder is answered with those that read its outputs`(
    shapes: [[Int64]], names: [String]
  ) throws {
    var file = Models.sum
    file.inputs = [Port("images", .float, [1, 3, 640, 640])]
    file.outputs = shapes.enumerated().map { Port("o\($0)", .float, $1.map { .fixed($0) }) }
    let draft = try ModelSettings.draft(of: try outline(file), at: "m.onnx")
    let advice = try #require(draft.problems.first?.advice)
    let words = advice.split { !($0.isLetter || $0.isNumber || $0 == "-") }.map(String.init)
    let told = DecoderName.allCases.map(\.rawValue).filter { words.contains($0) }
    #expect(told == names, "\(advice)")
    #expect(advice.contains("…") == (names.count > 1))
  }
}
