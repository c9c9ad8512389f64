import Foundation
import RetakeTestSupport

/// Package.swift as SwiftPM reads it, as far as the rules of the layers need it.
struct Manifest: Decodable {
  struct Target: Decodable {
    var name: String
    /// regular, executable, test or system.
    var type: String
    /// From the package's root; `nil` for tests, which are in the usual place.
    var path: String?
    var dependencies: [Dependency]

    var dependencyNames: [String] { dependencies.map(\.name).sorted() }
  }

  struct Dependency: Decodable {
    var name: String
    /// The traits of which one must be enabled; empty for a dependency without a condition.
    var traits: [String] = []

    init(name: String, traits: [String] = []) { (self.name, self.traits) = (name, traits) }

    /// `{"target": ["RetakeBags", {"traits": ["Bags"]}]}`, and the same for "byName" and "product".
    init(from decoder: any Decoder) throws {
      let kinds = try decoder.singleValueContainer().decode([String: Parts].self)
      guard let parts = kinds.values.first else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: decoder.codingPath, debugDescription: "a dependency has a name"))
      }
      (name, traits) = (parts.first, parts.traits)
    }

    /// The name comes first, the condition last. Between them are a product's package and aliases.
    private struct Parts: Decodable {
      var first: String
      var traits: [String] = []

      private struct Condition: Decodable { var traits: [String]? }
      private struct Part: Decodable {
        var condition: Condition?

        init(from decoder: any Decoder) {
          condition = try? decoder.singleValueContainer().decode(Condition.self)
        }
      }

      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        first = try list.decode(String.self)
        // Ends: each round decodes an element.
        while !list.isAtEnd { traits += try list.decode(Part.self).condition?.traits ?? [] }
      }
    }
  }

  struct Product: Decodable {
    var name: String
    var targets: [String]
  }

  var targets: [Target]
  var products: [Product]

  /// Modules that a user's package can import: products with the name of their module.
  var libraries: [String] { products.filter { $0.targets == [$0.name] }.map(\.name) }

  /// All targets and products that a target depends on, directly or not, and the target that first
  /// brings each.
  ///
  /// - Parameter withTraits: Whether dependencies that need a trait count.
  func closure(of name: String, withTraits: Bool = true) -> [(name: String, user: String)] {
    var found: [(name: String, user: String)] = []
    var open = [name]
    // Ends: a name is appended once.
    while let user = open.popLast() {
      for needed in target(user)?.dependencies ?? []
      where (withTraits || needed.traits.isEmpty)
        && !found.contains(where: { $0.name == needed.name })
      {
        found.append((needed.name, user))
        open.append(needed.name)
      }
    }
    return found.sorted { $0.name < $1.name }
  }

  func target(_ name: String) -> Target? { targets.first { $0.name == name } }

  /// The current Package.swift, read once.
  static func current() throws -> Manifest { try once.get() }

  private static let once = Result { try dump() }

  /// Calls SwiftPM with a separate scratch folder, because the running `swift test` locks the usual
  /// one. Its locks are also there. Its cache is not used, because it does not keep track of which
  /// folders exist.
  private static func dump() throws -> Manifest {
    let scratch = try TemporaryFolder("retake-manifest")
    let result = try runCommand(
      "swift",
      arguments: [
        "package", "--manifest-cache", "none", "--package-path", packageRoot.path,
        "--scratch-path", scratch.url.path, "dump-package",
      ], environment: ["TMPDIR": scratch.url.path, "RETAKE_FUZZ": "1"])
    guard result.status == 0 else { throw DumpFailed(description: result.stderr) }
    return try JSONDecoder().decode(Manifest.self, from: result.stdoutBytes)
  }

  struct DumpFailed: Error, CustomStringConvertible { var description: String }
}
