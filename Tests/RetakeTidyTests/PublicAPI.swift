import Foundation
import RetakeTestSupport

/// The declarations that a module offers to other packages, as the compiler's symbol graph has it.
struct PublicAPI {
  /// A declaration in the sources; declarations that the compiler derives are left out.
  struct Declaration: Hashable, Sendable {
    /// `Detection.box`, with the argument labels of functions.
    var name: String
    /// `let box: Box`, and for a type also its conformances.
    var text: String
    var isDocumented: Bool
    /// Whether it is a case of an enumeration or a requirement of a protocol; these have no access
    /// level.
    var isCase: Bool

    var line: String { "\(name)  \(text)" }
  }

  var declarations: [Declaration]

  /// One declaration in each line, sorted by name.
  var text: String {
    Set(declarations.map(\.line)).sorted().map { $0 + "\n" }.joined()
  }

  /// The modules that other packages can import, and the modules that these export.
  static func modules() throws -> [String] {
    let facade = try Repository.swiftFiles(in: ["Sources/EntryPoints/Retake"])
      .flatMap { $0.text.matches(of: /@_exported (?:public )?import (\w+)/).map { String($0.1) } }
    let others = [
      "Retake", "RetakeClock", "RetakeCommand", "RetakeMetrics", "RetakePreview", "RetakeTesting",
      "RetakeXCTest",
    ]
    return (facade + others).sorted()
  }

  /// - Throws: `CommandNotFound`, `ExtractionFailed`, decoding errors, and the file system's
  ///   errors.
  init(of module: String) throws {
    let folder = try TemporaryFolder("retake-api")
    let result = try runCommand(
      "swift",
      arguments: try [
        "symbolgraph-extract", "-module-name", module, "-target", Self.triple.get(),
        "-minimum-access-level", "public", "-skip-synthesized-members",
        "-output-dir", folder.url.path,
      ] + Self.imports.get())
    guard result.status == 0 else { throw ExtractionFailed(description: result.stderr) }
    // Its extensions of other modules' types are in files of their own: `Module@Other`.
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    declarations = try files.filter { $0.hasSuffix(".symbols.json") }.flatMap { file in
      try Self.declarations(in: Data(contentsOf: folder.file(file)))
    }
  }

  struct ExtractionFailed: Error, CustomStringConvertible { var description: String }

  static func declarations(in graph: Data) throws -> [Declaration] {
    let graph = try JSONDecoder().decode(SymbolGraph.self, from: graph)
    var conformances: [String: [String]] = [:]
    for relation in graph.relationships where relation.kind == "conformsTo" {
      let name = relation.targetFallback ?? graph.name(of: relation.target)
      guard let name, !implied.contains(name) else { continue }
      conformances[relation.source, default: []].append(name)
    }
    return graph.symbols.filter { $0.location != nil }.map { symbol in
      let bare = symbol.declarationFragments.map(\.spelling).joined()
        .split(whereSeparator: \.isWhitespace).joined(separator: " ")
      let conforms = Set(conformances[symbol.identifier.precise] ?? []).sorted()
      return Declaration(
        name: symbol.pathComponents.joined(separator: "."),
        text: conforms.isEmpty ? bare : "\(bare): \(conforms.joined(separator: ", "))",
        isDocumented: symbol.docComment != nil, isCase: symbol.kind.identifier == "swift.enum.case")
    }
  }

  /// Conformances that the compiler adds to nearly every type.
  private static let implied: Set = [
    "Swift.Copyable", "Swift.Escapable", "Swift.SendableMetatype", "Swift.BitwiseCopyable",
  ]

  private static let triple = Result {
    struct Info: Decodable {
      struct Target: Decodable { var triple: String }
      var target: Target
    }
    let info = try runCommand("swift", arguments: ["-print-target-info"])
    return try JSONDecoder().decode(Info.self, from: info.stdoutBytes).target.triple
  }

  /// The compiler's errors about files that import the built modules from another package.
  ///
  /// - Returns: An error in each line; empty if the files compile.
  static func errors(compiling files: [String]) throws -> String {
    let result = try runCommand(
      "swiftc",
      arguments: try [
        "-typecheck", "-parse-as-library", "-module-name", "Reader", "-package-name", "reader",
        "-swift-version", "6", "-module-cache-path",
        productsFolder.appending(path: "ModuleCache").path,
      ] + imports.get() + files)
    let lines = result.stderr.split(separator: "\n").filter { $0.contains(": error: ") }
    return result.status == 0 || !lines.isEmpty ? lines.joined(separator: "\n") : result.stderr
  }

  /// The options that lead the compiler to the built modules.
  private static let imports = Result {
    try ["-I", productsFolder.appending(path: "Modules").path]
      + moduleMaps.get().flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
  }

  /// The C modules of the build; the compiler reads them again with each Swift module that imports
  /// a C module.
  private static let moduleMaps = Result {
    let plan = packageRoot.appending(path: ".build/\(productsFolder.lastPathComponent).yaml")
    let text = try String(contentsOf: plan, encoding: .utf8)
    return Set(text.matches(of: /-fmodule-map-file=([^"]+)/).map { String($0.1) }).sorted()
  }
}

/// The parts of swift-docc-symbolkit's format that are read here.
private struct SymbolGraph: Decodable {
  struct Symbol: Decodable {
    struct Kind: Decodable { var identifier: String }
    struct Identifier: Decodable { var precise: String }
    struct Fragment: Decodable { var spelling: String }
    struct Anything: Decodable {}

    var kind: Kind
    var identifier: Identifier
    var pathComponents: [String]
    var declarationFragments: [Fragment]
    var docComment: Anything?
    var location: Anything?
  }

  struct Relationship: Decodable {
    var kind: String
    var source: String
    var target: String
    var targetFallback: String?
  }

  var symbols: [Symbol]
  var relationships: [Relationship]

  func name(of precise: String) -> String? {
    symbols.first { $0.identifier.precise == precise }?.pathComponents.joined(separator: ".")
  }
}
