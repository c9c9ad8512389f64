import RetakeGraph
import RetakeTestSupport
import Testing

@testable import RetakeInference

@Suite struct ModelledDeviceTests {
  private let inputs = [ModelTensor(.float([0.25, 0.5]), shape: [2])]
  private let outputs = [
    ModelTensor(.float((1...500).map { Float($0) }), shape: [500]),
    ModelTensor(.double((1...500).map { -Double($0) }), shape: [500]),
    ModelTensor(.int64([3, 4]), shape: [2]),
  ]

  private func device(noise: Double, seed: UInt64 = 7) -> ModelledDevice {
    ModelledDevice(
      ModelDevice(provider: "modelled", card: "card-b"), noise: noise, seed: seed)
  }

  private func numbers(_ tensor: ModelTensor) -> [Double] {
    switch tensor.elements {
    case .float(let values): values.map { Double($0) }
    case .double(let values): values
    default: []
    }
  }

  @Test func `noise is relative, on both sides, and nearly as large as was declared`() {
    let noisy = device(noise: 1e-3).rounded(outputs, for: inputs)
    #expect(noisy.map(\.shape) == outputs.map(\.shape) && noisy[2] == outputs[2])
    for (old, new) in zip(outputs, noisy).prefix(2) {
      let shares = zip(numbers(old), numbers(new)).map { ($1 - $0) / $0 }
      // A Float rounds by another 6e-8.
      #expect(shares.allSatisfy { $0.magnitude <= 1e-3 + 1e-7 })
      #expect((shares.max() ?? 0) > 9e-4 && (shares.min() ?? 0) < -9e-4)
      #expect((shares.reduce(0, +) / 500).magnitude < 1e-4)
    }
    #expect(numbers(noisy[0]) != numbers(noisy[1]).map { -$0 })
  }

  @Test func `noise depends on the seed and the inputs, and on nothing else`() {
    let noisy = device(noise: 1e-3).rounded(outputs, for: inputs)
    #expect(device(noise: 1e-3).rounded(outputs, for: inputs) == noisy)
    #expect(device(noise: 1e-3, seed: 8).rounded(outputs, for: inputs) != noisy)
    let others = [ModelTensor(.float([0.25, 0.75]), shape: [2])]
    #expect(device(noise: 1e-3).rounded(outputs, for: others) != noisy)
    #expect(device(noise: 0).rounded(outputs, for: inputs) == outputs)
  }

  @Test func `a provider may name a file`() throws {
    #expect(ModelProvider("CPUExecutionProvider").file == nil)
    #expect(try ModelProvider("CPUExecutionProvider").device() == nil)
    let tensorRT = ModelProvider("TensorrtExecutionProvider:a:b.engine")
    #expect(tensorRT.engine == "a:b.engine")
    #expect(tensorRT.libraryName == "TensorrtExecutionProvider")
    let error = #expect(throws: InferenceError.self) { try tensorRT.device() }
    #expect(error?.facts.code == "inference.engine.unreadable")
    let modelled = ModelProvider("modelled:card.json")
    #expect(modelled.libraryName == OnnxOptions.cpu && modelled.engine == nil)
    #expect(throws: OptionError.self) { try ModelProvider("modelled").modelledDevice() }
    #expect(throws: OptionError.self) { try ModelProvider("modelled:").modelledDevice() }
    let folder = try TemporaryFolder()
    let file = try folder.write(#"{"v": 1, "name": ""}"#, to: "device.json")
    let unnamed = #expect(throws: ModelDocumentError.self) {
      try ModelledDevice(reading: file.path)
    }
    #expect(unnamed?.message == "a device has a name", "\(unnamed as Any)")
  }
}
