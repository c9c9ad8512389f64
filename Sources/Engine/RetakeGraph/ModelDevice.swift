/// The device that computes a model, as far as the bits of its results depend on it.
///
/// A stage on the processor has no device: the platform's name has the kind of processor.
package struct ModelDevice: Hashable, Sendable {
  /// The execution provider that every library has: the processor.
  package static let processor = ModelDevice(provider: "CPUExecutionProvider")

  /// The execution provider, by ONNX Runtime's name, or `modelled`.
  package var provider: String
  /// `nil` if the provider does not say.
  package var card: String?
  package var driver: String?
  /// SHA-256 of the engine's file.
  package var engine: String?

  package init(
    provider: String, card: String? = nil, driver: String? = nil, engine: String? = nil
  ) {
    (self.provider, self.card, self.driver, self.engine) = (provider, card, driver, engine)
  }

  /// All fields by their names, in the order in which they are written.
  package var fields: [(name: String, value: String?)] {
    [("provider", provider), ("card", card), ("driver", driver), ("engine", engine)]
  }
}

extension ModelDevice: CustomStringConvertible {
  /// `card-b, driver 1.2, engine 1a2b3c4d5e6f…`.
  package var description: String {
    let parts = [
      card ?? provider, driver.map { "driver \($0)" }, engine.map { "engine \($0.prefix(12))…" },
    ]
    return parts.compactMap(\.self).joined(separator: ", ")
  }
}
