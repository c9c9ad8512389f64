import Foundation
import RetakeInference
import RetakeTestSupport
import Testing

@Suite(.enabled(if: installedLibrary != nil, SkipReason.noOnnxRuntime))
struct BadModelTests {
  typealias Port = Models.Port

  let models: Models

  init() throws { models = try Models() }

  /// - Parameter expected: A part of the error's description.
  private func check(
    _ error: InferenceError?, _ code: String, _ expected: String,
    location: SourceLocation = #_sourceLocation
  ) throws {
    let error = try #require(error, sourceLocation: location)
    #expect(error.code == code, "\(error)", sourceLocation: location)
    #expect(error.description.contains(expected), "\(error)", sourceLocation: location)
  }

  @Test func `a file that is no model is refused`() throws {
    let invalid = "inference.model.invalid"
    try check(try models.refusal(bytes: []), invalid, "it is empty")
    let text = Array("version https://git-lfs.github.com/spec/v1\noid sha256:0123\n".utf8)
    try check(try models.refusal(bytes: text), invalid, "ONNX Runtime")
    try check(
      try models.refusal(bytes: Array("<!DOCTYPE html>".utf8)), invalid, "it is not a model")
    let zeros = [UInt8](repeating: 0, count: 4096)
    try check(try models.refusal(bytes: zeros), invalid, "it is not a model")
  }

  @Test func `a model that was cut off anywhere is refused`() throws {
    let bytes = Models.network(seed: 1).bytes
    for count in stride(from: 1, to: bytes.count - 40, by: 97) {
      let error = try models.refusal(bytes: Array(bytes.prefix(count)))
      #expect(error?.code == "inference.model.invalid", "\(count) bytes")
    }
  }

  @Test func `a model with flipped bits is refused or computed`() throws {
    var generator = SeededGenerator(seed: 9)
    let bytes = Models.sum.bytes
    var refused = 0
    for _ in 0..<300 {
      var damaged = bytes
      damaged[generator.pick(0...bytes.count - 1)] ^= 1 << UInt8(generator.pick(0...7))
      do {
        let model = try models.load(bytes: damaged)
        let two = ModelTensor(.float([1, 1]), shape: [1, 2])
        _ = try model.run(model.inputs.map { _ in two })
      } catch {
        refused += 1
      }
    }
    #expect(refused > 50)
  }

  @Test func `a path without a readable file is refused`() throws {
    let library = try OnnxLibrary.load()
    func refusal(_ path: String) -> InferenceError? {
      do {
        _ = try OnnxModel(path: path, library: library)
        return nil
      } catch {
        return error as? InferenceError
      }
    }
    let folder = models.folder.url.path
    try check(refusal("\(folder)/none.onnx"), "inference.model.unreadable", "no such file")
    try check(refusal(folder), "inference.model.unreadable", "it is a folder")
    try check(refusal("/dev/null"), "inference.model.unreadable", "not a file")
    let large = models.folder.file("large.onnx")
    try Data().write(to: large)
    let handle = try FileHandle(forWritingTo: large)
    try handle.truncate(atOffset: UInt64(OnnxModel.fileBytesMax) + 1)
    try handle.close()
    try check(refusal(large.path), "inference.model.unreadable", "at most 1073741824 are read")
  }

  @Test func `operators and versions that the library does not know are refused`() throws {
    var later = Models.sum
    later.opset = 4000
    try check(try models.refusal(later), "inference.model.invalid", "opset")
    let unknown = OnnxModelFile(
      inputs: [Port("x", .float, [1])], outputs: [Port("y", .float, [1])],
      nodes: [Models.Node("FindPulse", inputs: ["x"], outputs: ["y"])])
    try check(try models.refusal(unknown), "inference.model.invalid", "FindPulse")
    let dangling = OnnxModelFile(
      inputs: [Port("x", .float, [1])], outputs: [Port("y", .float, [1])],
      nodes: [Models.Node("Neg", inputs: ["z"], outputs: ["y"])])
    try check(try models.refusal(dangling), "inference.model.invalid", "z")
    let sized = InferenceError.invalid(
      model: "m.onnx", version: "1.20", cause: "shapes differ", isSized: true)
    #expect(sized.advice?.hasPrefix("Choose another input.size") == true)
  }

  @Test func `numbers in another file are refused before it is opened`() throws {
    var file = Models.product
    file.constants = [Models.Constant("w", shape: [2, 3], inFile: "../secrets.bin")]
    try check(try models.refusal(file), "inference.model.external", "'../secrets.bin'")
    var nested = Models.identity(.float)
    nested.nodes.append(
      Models.Node(
        "Constant", inputs: [], outputs: ["c"],
        ["value": .tensor(Models.Constant("v", shape: [3], inFile: "weights.bin"))]))
    try check(try models.refusal(nested), "inference.model.external", "'weights.bin'")
  }

  @Test func `dimensions of gigabytes are refused`() throws {
    let large = 1 << 20
    try check(
      try models.refusal(
        Models.identity(.float, [1, 3, .fixed(Int64(large)), .fixed(Int64(large))])),
      "inference.model.tooLarge", "has the shape [1, 3, 1048576, 1048576]")
    try check(
      try models.refusal(Models.identity(.uint8, [.fixed(.max), .fixed(.max)])),
      "inference.model.tooLarge", "at most 1073741824 bytes")
    try check(
      try models.refusal(Models.identity(.uint8, [.fixed(1 << 31)])),
      "inference.model.tooLarge", "[2147483648]")
    // A length that is free at first and large in the end.
    let expanding = OnnxModelFile(
      inputs: [Port("x", .float, [1]), Port("shape", .int64, [2])],
      outputs: [Port("y", .float, ["a", "b"])],
      nodes: [Models.Node("Expand", inputs: ["x", "shape"], outputs: ["y"])])
    let model = try models.load(expanding)
    let small = [ModelTensor(.float([3]), shape: [1]), ModelTensor(.int64([1, 2]), shape: [2])]
    #expect(try model.run(small) == [ModelTensor(.float([3, 3]), shape: [1, 2])])
    let wide = ModelTensor(.int64([1 << 31, 1 << 31]), shape: [2])
    let error = #expect(throws: InferenceError.self) { try model.run([small[0], wide]) }
    #expect(error?.code == "inference.run.failed")
  }

  @Test func `inputs of another number, type or shape are refused, with both`() throws {
    let model = try models.load(Models.sum)
    let two = ModelTensor(.float([1, 2]), shape: [1, 2])
    func check(_ tensors: [ModelTensor], _ code: String, _ expected: String) throws {
      let error = #expect(throws: InferenceError.self) { try model.run(tensors) }
      try self.check(error, code, expected)
    }
    try check([two], "inference.input.count", "has 2 inputs ('a', 'b'), and 1 were given")
    try check([two, two, two], "inference.input.count", "and 3 were given")
    try check(
      [two, ModelTensor(.double([1, 2]), shape: [1, 2])], "inference.input.type",
      "the input 'b' is of the type float, and double was given")
    try check(
      [two, ModelTensor(.float([1, 2]), shape: [2])], "inference.input.shape",
      "the input 'b' has the shape [1, ?], and [2] was given")
    try check(
      [ModelTensor(.float([1, 2]), shape: [2, 1]), two], "inference.input.shape",
      "and [2, 1] was given")
    // Each fits, and the two do not fit each other.
    try check(
      [two, ModelTensor(.float([1, 2, 3]), shape: [1, 3])], "inference.run.failed", "Add")
    #expect(try model.run([two, two]) == [ModelTensor(.float([2, 4]), shape: [1, 2])])
  }

  @Test func `types that no stage converts are refused by name`() throws {
    let unsupported = "inference.output.unsupported"
    try check(
      try models.refusal(Models.identity(.string)), "inference.input.unsupported",
      "the input 'x' is of the type string")
    let half = OnnxModelFile(
      inputs: [Port("x", .float, [1])], outputs: [Port("y", .float16, [1])],
      nodes: [Models.Node("Cast", inputs: ["x"], outputs: ["y"], ["to": .integer(10)])])
    try check(try models.refusal(half), unsupported, "the output 'y' is of the type float16")
    try check(
      try models.refusal(Models.classifier), unsupported,
      "the output 'probabilities' is of the type sequence")
    // The rest of the model can be used.
    let model = try models.load(Models.classifier, options: OnnxOptions(outputs: ["label"]))
    #expect(
      try model.run([ModelTensor(.float([3, 1, 1, 3]), shape: [2, 2])])
        == [ModelTensor(.int64([7, 8]), shape: [2])])
    #expect(model.declaredOutputs.map(\.typeName) == ["int64", "sequence"])
  }

  @Test func `a provider that the library lacks is refused with those that it has`() throws {
    let error = try models.refusal(
      Models.sum, options: OnnxOptions(provider: "ToasterExecutionProvider"))
    try check(
      error, "inference.provider.missing", "no execution provider 'ToasterExecutionProvider'")
    #expect(error?.description.contains("'CPUExecutionProvider'") == true)
  }

  @Test func `metadata of any size is refused beyond its bound`() throws {
    var file = Models.sum
    file.metadata = [("names", String(repeating: "x", count: OnnxModel.metadataBytesMax))]
    try check(try models.refusal(file), "inference.model.invalid", "longer than 4194304 bytes")
    file.metadata = (0...OnnxModel.metadataCountMax).map { ("key\($0)", "") }
    try check(try models.refusal(file), "inference.model.invalid", "has 1025 entries")
  }

  /// In a separate process, because file descriptors belong to all threads of a process.
  @Test func `nothing is written to standard error`() async throws {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent, \.standardOutputContent]
    ) {
      let models = try Models()
      var later = Models.sum
      later.opset = 4000
      #expect(try models.refusal(later) != nil)
      let model = try models.load(Models.sum)
      #expect(throws: InferenceError.self) {
        try model.run([
          ModelTensor(.float([1, 2]), shape: [1, 2]),
          ModelTensor(.float([1, 2, 3]), shape: [1, 3]),
        ])
      }
    }
    let written = try #require(result)
    #expect(String(decoding: written.standardErrorContent, as: UTF8.self) == "")
    #expect(!String(decoding: written.standardOutputContent, as: UTF8.self).contains("onnx"))
  }
}
