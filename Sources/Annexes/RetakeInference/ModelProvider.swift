import RetakeCore
import RetakeGraph
import RetakeMedia

/// A node's `provider`: the name of a provider, and after a colon a file: the engine that the
/// provider keeps for the model, or the description of a modelled device.
struct ModelProvider: Hashable, Sendable {
  /// The provider of devices that only a file describes.
  static let modelled = "modelled"
  /// The largest file of an engine.
  private static let engineBytesMax: Int64 = 1 << 32

  let name: String
  let file: String?

  init(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    name = String(parts[0])
    file = parts.count == 2 && !parts[1].isEmpty ? String(parts[1]) : nil
  }

  /// The name for ONNX Runtime: the processor computes what a modelled device would.
  var libraryName: String { name == Self.modelled ? OnnxOptions.cpu : name }
  /// The engine's path; `nil` without one.
  var engine: String? { name == Self.modelled ? nil : file }

  /// The description of a modelled device; `nil` for any other provider.
  ///
  /// - Throws: `OptionError` without a file; `ModelDocumentError` for a file with a wrong value.
  func modelledDevice() throws -> ModelledDevice? {
    guard name == Self.modelled else { return nil }
    guard let file else {
      throw OptionError(
        key: "provider", message: "names no device; write for example: modelled:card-b.json")
    }
    return try ModelledDevice(reading: file)
  }

  /// The device of this machine for the provider; `nil` for the processor.
  ///
  /// - Throws: `InferenceError` for an engine that cannot be read.
  func device() throws -> ModelDevice? {
    if name == OnnxOptions.cpu { return nil }
    var device = ModelDevice(provider: name)
    if [OnnxOptions.cuda, OnnxOptions.tensorRT].contains(name) {
      (device.card, device.driver) = CUDACard.facts
    }
    device.engine = try engine.map { try Self.digest(ofEngine: $0) }
    return device
  }

  /// SHA-256 of an engine's file.
  static func digest(ofEngine path: String) throws -> String {
    do {
      return Sha256.digest(
        of: try RegularFile.contents(path, links: .followed, bytesMax: engineBytesMax))
    } catch {
      throw InferenceError(
        "inference.engine.unreadable", "the engine cannot be read", cause: error.causeText,
        at: path, advice: "Build it before the test; a test builds no engine")
    }
  }
}
