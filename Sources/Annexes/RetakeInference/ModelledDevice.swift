import Foundation
import RetakeCore
package import RetakeGraph
import RetakeStages

/// A device that a file describes: the processor computes the model, and each number of its outputs
/// gets the rounding noise of the device. It shows on any machine how goldens of several devices
/// are judged.
package struct ModelledDevice: Hashable, Sendable {
  /// The largest description, in bytes.
  private static let bytesMax = 1 << 16

  package let device: ModelDevice
  /// The largest noise of a number, as a fraction of the number, 0 to 1.
  package let noise: Double
  package let seed: UInt64

  package init(_ device: ModelDevice, noise: Double, seed: UInt64) {
    (self.device, self.noise, self.seed) = (device, noise, seed)
  }

  /// Reads `{"v": 1, "name": "card-b", "noise": 1e-4, "seed": 7, "driver": "1.2"}`, with the path of
  /// an engine in `engine`, relative to the working folder.
  ///
  /// - Throws: `ModelDocumentError`; `InferenceError` for an engine that cannot be read.
  init(reading path: String) throws {
    do {
      let data = try RegularFile.contents(path, links: .followed, bytesMax: Int64(Self.bytesMax))
      try self.init(StrictDecoder<DocumentProblem>(parsing: data, bytesMax: Self.bytesMax))
    } catch let problem as DocumentProblem {
      throw ModelDocumentError.device(path: path, problem)
    } catch let refusal as RegularFile.Refusal {
      throw ModelDocumentError.noDevice(path: path, cause: refusal.description)
    }
  }

  private init(_ decoder: StrictDecoder<DocumentProblem>) throws {
    let fields = try decoder.document(["name", "noise", "seed", "driver", "engine"])
    let noise = fields["noise"]
    self.noise = try noise?.number() ?? 0
    if let noise, !(0...1).contains(self.noise) { throw noise.wrong("a noise is 0 to 1") }
    seed = UInt64(try fields["seed"]?.integer(in: 0...Int.max, "a seed is 0 or more") ?? 0)
    let name = try fields.required("name")
    guard try !name.string().isEmpty else {
      throw name.wrong("a device has a name", advice: "Write, for example: \"name\": \"card-b\"")
    }
    device = ModelDevice(
      provider: ModelProvider.modelled, card: try name.string(),
      driver: try fields["driver"]?.string(),
      engine: try fields["engine"].map { try ModelProvider.digest(ofEngine: $0.string()) })
  }

  /// Everything on which results depend besides the model and its inputs.
  var fingerprint: String { "\(device) noise=\(noise) seed=\(seed)" }

  /// The outputs with the device's noise: a function of the seed, the inputs, and the place of each
  /// number, so it is the same for any number of workers and for a value from the cache.
  package func rounded(_ outputs: [ModelTensor], for inputs: [ModelTensor]) -> [ModelTensor] {
    guard noise > 0 else { return outputs }
    var hasher = DigestHasher()
    for input in inputs { input.elements.append(to: &hasher) }
    let key = hasher.finish().low
    return outputs.enumerated().map { index, output in
      let draws = CameraNoise(seed: seed, frame: key &+ UInt64(index))
      func factor(_ place: Int) -> Double {
        // 53 bits with a sign: from -1 to 1.
        1 + noise * Double(Int64(bitPattern: draws.rowKey(plane: 0, y: place)) >> 10) * 0x1p-53
      }
      return ModelTensor(output.elements.scaled(by: factor), shape: output.shape)
    }
  }
}

extension ModelTensor.Elements {
  fileprivate func append(to hasher: inout DigestHasher) {
    switch self {
    case .float(let values): for value in values { hasher.append(value) }
    case .double(let values): for value in values { hasher.append(value) }
    case .uint8(let values): hasher.append(values)
    case .int32(let values): for value in values { hasher.append(value) }
    case .int64(let values): for value in values { hasher.append(value) }
    }
  }

  /// Each number times the factor of its place. Integers are not rounded, so they stay.
  fileprivate func scaled(by factor: (Int) -> Double) -> Self {
    switch self {
    case .float(let values):
      .float(values.enumerated().map { Float(Double($1) * factor($0)) })
    case .double(let values): .double(values.enumerated().map { $1 * factor($0) })
    case .uint8, .int32, .int64: self
    }
  }
}
