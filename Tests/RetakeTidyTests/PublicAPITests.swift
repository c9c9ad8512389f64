import Foundation
import RetakeTestSupport
import Testing

/// docs/api has the declarations that other packages can use, so that a change of them is seen in
/// review. `make accept-api` writes the files again.
@Suite struct PublicAPITests {
  private static let accepts = ProcessInfo.processInfo.environment["RETAKE_ACCEPT_API"] == "1"
  private static let modules = Result { try PublicAPI.modules() }
  private static let apis = Result {
    try modules.get().map { (module: $0, api: try PublicAPI(of: $0)) }
  }

  private static func file(_ module: String) -> URL { Repository.url("docs/api/\(module).txt") }

  private static func expected() throws -> [String: String] {
    let pairs = try apis.get().filter { !$0.api.declarations.isEmpty }
      .map { ("\($0.module).txt", $0.api.text) }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  @Test func `the public API is the one that docs/api lists`() throws {
    let expected = try Self.expected()
    let folder = Repository.url("docs/api")
    if Self.accepts {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for (name, text) in expected {
        try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
      }
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".txt") }
    #expect(names.sorted() == expected.keys.sorted(), "type: make accept-api")
    for name in names.sorted() {
      let listed = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      let now = Set((expected[name] ?? "").split(separator: "\n"))
      let then = Set(listed.split(separator: "\n"))
      let changes =
        now.subtracting(then).map { "+ \($0)" } + then.subtracting(now).map { "- \($0)" }
      #expect(changes.sorted() == [], "\(name): if this is on purpose, type: make accept-api")
    }
  }

  /// Larger numbers need a reason, because every public declaration has to be kept.
  @Test func `the public API is small, and nine tenths of it are documented`() throws {
    // A requirement of a protocol and its default are one line of docs/api, and one thing to learn.
    let declarations = try Self.apis.get().flatMap { module in
      Dictionary(grouping: module.api.declarations.filter { !$0.isCase }, by: \.line).values
    }
    let documented = declarations.count { same in same.contains { $0.isDocumented } }
    #expect(declarations.count > 500)
    // Frames that stages write to in leased memory, temperatures, sensors, deep pixel formats, the
    // kinds of decisions, masks, key points, polylines and images are public, too.
    #expect(declarations.count <= 1_400)
    #expect(documented * 10 >= declarations.count * 9, "\(documented) of \(declarations.count)")
  }

  /// The docs tests compile these files too, but within this package, where more is in scope.
  @Test func `what the pages show compiles in another package`() throws {
    let samples = ["Samples", "CatalogSamples"].map {
      Repository.url("Tests/RetakeDocsTests/\($0).swift").path
    }
    #expect(try PublicAPI.errors(compiling: samples) == "")
  }

  @Test func `a declaration of the package is not in scope in another one`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      "import Retake\nlet replay = Replay.self\nlet figures = RunFigures.self\n",
      to: "Reader.swift")
    let errors = try PublicAPI.errors(compiling: [file.path])
    #expect(errors.contains("cannot find 'RunFigures' in scope"))
    #expect(!errors.contains("'Replay'"))
  }

  @Test func `a symbol graph is read as lines`() throws {
    let graph = """
      {"symbols": [
        {"kind": {"identifier": "swift.struct"}, "identifier": {"precise": "a"},
         "pathComponents": ["Box"], "location": {}, "docComment": {"lines": []},
         "declarationFragments": [{"spelling": "struct"}, {"spelling": " "}, {"spelling": "Box"}]},
        {"kind": {"identifier": "swift.property"}, "identifier": {"precise": "b"},
         "pathComponents": ["Box", "x"], "location": {},
         "declarationFragments": [{"spelling": "var x:\\n  Double"}]},
        {"kind": {"identifier": "swift.method"}, "identifier": {"precise": "c"},
         "pathComponents": ["Box", "hash(into:)"], "declarationFragments": []}
       ],
       "relationships": [
        {"kind": "conformsTo", "source": "a", "target": "q", "targetFallback": "Swift.Sendable"},
        {"kind": "conformsTo", "source": "a", "target": "p", "targetFallback": "Swift.Copyable"},
        {"kind": "memberOf", "source": "b", "target": "a"}
       ]}
      """
    let found = try PublicAPI.declarations(in: Data(graph.utf8))
    #expect(found.map(\.line) == ["Box  struct Box: Swift.Sendable", "Box.x  var x: Double"])
    #expect(found.map(\.isDocumented) == [true, false])
  }
}
