import Foundation
import RetakeInference
import RetakeTestSupport
import Testing

@Suite(.enabled(if: installedLibrary != nil, SkipReason.noOnnxRuntime))
struct OnnxModelTests {
  let models: Models

  init() throws { models = try Models() }

  @Test func `two inputs of a free length are added`() throws {
    let model = try models.load(Models.sum)
    #expect(
      model.inputs == [
        ModelPort(name: "a", type: .float, shape: [1, nil]),
        ModelPort(name: "b", type: .float, shape: [1, nil]),
      ])
    #expect(model.outputs == [ModelPort(name: "y", type: .float, shape: [1, nil])])
    for width in [1, 4, 1000] {
      let rising = (0..<width).map { Float($0) }
      let result = try model.run([
        ModelTensor(.float(rising), shape: [1, width]),
        ModelTensor(.float([Float](repeating: -2, count: width)), shape: [1, width]),
      ])
      #expect(result == [ModelTensor(.float(rising.map { max(0, $0 - 2) }), shape: [1, width])])
    }
  }

  @Test func `a product has a batch of the given size`() throws {
    let model = try models.load(Models.product)
    let result = try model.run([ModelTensor(.float([1, 1, 2, 0]), shape: [2, 2])])
    #expect(result == [ModelTensor(.float([5, 7, 9, 2, 4, 6]), shape: [2, 3])])
    #expect(
      try model.run([ModelTensor(.float([]), shape: [0, 2])]) == [
        ModelTensor(.float([]), shape: [0, 3])
      ])
  }

  @Test func `elements of each type are passed and returned as they are`() throws {
    let cases: [(OnnxModelFile.Element, ModelTensor.Elements)] = [
      (.float, .float([-0.0, .greatestFiniteMagnitude, .leastNonzeroMagnitude])),
      (.double, .double([0.1, -.pi, 1e300])), (.uint8, .uint8([0, 128, 255])),
      (.int32, .int32([.min, 0, .max])), (.int64, .int64([.min, 0, .max])),
    ]
    for (type, elements) in cases {
      let given = ModelTensor(elements, shape: [3])
      #expect(try models.load(Models.identity(type)).run([given]) == [given])
    }
    #expect(Set(cases.map(\.1.type)) == Set(ModelTensor.ElementType.allCases))
  }

  @Test func `a single number is a tensor without dimensions`() throws {
    let model = try models.load(Models.identity(.double, []))
    #expect(
      try model.run([ModelTensor(.double([4]), shape: [])]) == [
        ModelTensor(.double([4]), shape: [])
      ])
  }

  @Test func `a tree ensemble is computed`() throws {
    let model = try models.load(OnnxModelFile.tree)
    let result = try model.run([ModelTensor(.float([59, 0, 60, 0.4, 90, 0.6]), shape: [3, 2])])
    #expect(result == [ModelTensor(.float([10, 20, 30]), shape: [3, 1])])
  }

  @Test func `the metadata of the file is read`() throws {
    var file = Models.sum
    file.metadata = [("names", "{0: 'Gesicht 😀'}"), ("empty", ""), ("stride", "32")]
    let model = try models.load(file)
    #expect(model.metadata == ["names": "{0: 'Gesicht 😀'}", "empty": "", "stride": "32"])
  }

  @Test func `results that are no numbers are returned, and found`() throws {
    let model = try models.load(
      OnnxModelFile(
        inputs: [Models.Port("x", .float, [3])], outputs: [Models.Port("y", .float, [3])],
        nodes: [Models.Node("Sqrt", inputs: ["x"], outputs: ["y"])]))
    let result = try #require(try model.run([ModelTensor(.float([4, -1, 9]), shape: [3])]).first)
    #expect(result.firstNonFinite == 1)
    let finite = try #require(try model.run([ModelTensor(.float([4, 1, 9]), shape: [3])]).first)
    #expect(finite == ModelTensor(.float([2, 1, 3]), shape: [3]) && finite.firstNonFinite == nil)
  }

  @Test func `the file may change or vanish after it was loaded`() throws {
    let model = try models.load(Models.product)
    let input = [ModelTensor(.float([1, 1]), shape: [1, 2])]
    let before = try model.run(input)
    try Data(Models.sum.bytes).write(to: models.folder.file("model.onnx"))
    #expect(try model.run(input) == before)
    try FileManager.default.removeItem(at: models.folder.file("model.onnx"))
    #expect(try model.run(input) == before)
  }

  @Test func `the outputs to compute may be chosen, in any order`() throws {
    let file = OnnxModelFile(
      inputs: [Models.Port("x", .float, [1])],
      outputs: ["a", "b", "c"].map { Models.Port($0, .float, [1]) },
      nodes: [
        Models.Node("Neg", inputs: ["x"], outputs: ["a"]),
        Models.Node("Abs", inputs: ["x"], outputs: ["b"]),
        Models.Node("Exp", inputs: ["x"], outputs: ["c"]),
      ])
    let model = try models.load(file, options: OnnxOptions(outputs: ["b", "a"]))
    #expect(model.outputs.map(\.name) == ["b", "a"])
    #expect(model.declaredOutputs.map(\.name) == ["a", "b", "c"])
    let result = try model.run([ModelTensor(.float([-3]), shape: [1])])
    #expect(result == [ModelTensor(.float([3]), shape: [1]), ModelTensor(.float([3]), shape: [1])])
    let none = try models.load(file, options: OnnxOptions(outputs: []))
    #expect(try none.run([ModelTensor(.float([-3]), shape: [1])]).isEmpty)
    #expect(
      try models.refusal(file, options: OnnxOptions(outputs: ["d"]))?.description.contains(
        "the model has no output 'd'. It has 'a', 'b', 'c'") == true)
  }

  @Test func `a model that was exported with one size computes another`() throws {
    var generator = SeededGenerator(seed: 5)
    let kernel = (0..<9).map { _ in Float(generator.pick(-8...8)) }
    func file(_ size: OnnxModelFile.Length) -> OnnxModelFile {
      OnnxModelFile(
        inputs: [Models.Port("x", .float, [1, 1, size, size])],
        outputs: [Models.Port("y", .float, [1, 1, size, size])],
        constants: [Models.Constant("k", kernel, shape: [1, 1, 3, 3])],
        nodes: [
          Models.Node(
            "Conv", inputs: ["x", "k"], outputs: ["y"], ["pads": .integers([1, 1, 1, 1])])
        ])
    }
    let image = ModelTensor(
      .float((0..<54).map { _ in Float(generator.pick(0...255)) }), shape: [1, 1, 6, 9])
    let expected = try models.load(file("any")).run([image])
    let fixed = try models.load(file(4))
    #expect(throws: InferenceError.self) { try fixed.run([image]) }

    let free = try models.load(
      file(4), options: OnnxOptions(inputShapes: ["x": [1, 1, nil, nil]]))
    #expect(free.inputs == [ModelPort(name: "x", type: .float, shape: [1, 1, nil, nil])])
    #expect(try free.run([image]) == expected)
    let other = try models.load(file(4), options: OnnxOptions(inputShapes: ["x": [1, 1, 6, 9]]))
    #expect(other.outputs == [ModelPort(name: "y", type: .float, shape: [1, 1, 6, 9])])
    #expect(try other.run([image]) == expected)
    #expect(other.sha256 == fixed.sha256)
    #expect(Set([fixed, free, other].map(\.fingerprint)).count == 3)
    #expect(
      try models.refusal(file(4), options: OnnxOptions(inputShapes: ["z": [1]]))
        == .noInput("z", model: fixed.path, available: ["x"]))
  }

  @Test func `the fingerprint holds the file, the library and the options`() throws {
    let model = try models.load(Models.sum)
    let same = try models.load(Models.sum)
    #expect(model.fingerprint == same.fingerprint)
    #expect(model.fingerprint.contains(model.sha256) && model.sha256.count == 64)
    #expect(model.fingerprint.contains("onnxruntime=\(model.library.version)"))
    #expect(try models.load(Models.product).fingerprint != model.fingerprint)
    let plain = try models.load(Models.sum, options: OnnxOptions(optimization: .none))
    #expect(plain.sha256 == model.sha256 && plain.fingerprint != model.fingerprint)
  }

  @Test func `each run gives the same bits`() throws {
    let model = try models.load(Models.network(seed: 1))
    let input = Self.image(seed: 2)
    let first = try model.run([input])
    #expect(first[0].elements.count == 10 && first[0].firstNonFinite == nil)
    for _ in 0..<50 { #expect(try model.run([input]) == first) }
    let again = try models.load(Models.network(seed: 1))
    #expect(try again.run([input]) == first)
    #expect(try model.run([Self.image(seed: 3)]) != first)
  }

  @Test(arguments: [1, 2, 8])
  func `threads that run one model at once get the same bits`(threads: Int) throws {
    let model = try models.load(Models.network(seed: 1))
    let inputs = (0..<8).map { Self.image(seed: $0) }
    let alone = try inputs.map { try model.run([$0]) }
    let wrong = try OwnThreads.run(threads) { thread in
      try (0..<50).count { round in
        let index = (thread * 3 + round) % inputs.count
        return try model.run([inputs[index]]) != alone[index]
      }
    }
    #expect(wrong == [Int](repeating: 0, count: threads))
  }

  private static func image(seed: UInt64) -> ModelTensor {
    var generator = SeededGenerator(seed: seed)
    let values = (0..<3 * 24 * 24).map { _ in Float(generator.pick(0...255)) / 255 }
    return ModelTensor(.float(values), shape: [1, 3, 24, 24])
  }
}
