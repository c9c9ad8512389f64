/// The library that computes models, as it is on this machine.
package struct ModelLibrary: Hashable, Sendable, Encodable {
  package let version: String
  /// The file that the system's loader chose.
  package let path: String
  /// The execution providers, by the library's names.
  package let providers: [String]

  /// Loads the library, or returns the library that is already loaded.
  ///
  /// - Throws: `InferenceError`.
  package static func find() throws -> ModelLibrary { ModelLibrary(try OnnxLibrary.load()) }

  init(_ library: OnnxLibrary) {
    (version, path, providers) = (library.version, library.path, library.providers)
  }
}
