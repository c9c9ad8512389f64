import Foundation
import Testing

/// Each module imports from its layer and from lower layers, as Package.swift lists.
@Suite struct LayersTests {
  @Test func `each module is in a layer, and imports no higher one`() throws {
    let manifest = try Manifest.current()
    #expect(manifest.target("RetakeCore")?.path == "Sources/Engine/RetakeCore")
    let findings = LayerRules.check(layersOf: manifest)
    #expect(findings == [])
  }

  @Test func `no server and no command parser comes with the libraries for tests`() throws {
    let findings = LayerRules.check(
      testLibraries: Layers.testLibraries, manifest: try Manifest.current(),
      allowing: Layers.productsInTestLibraries)
    #expect(findings == [])
  }

  @Test func `without traits Retake comes without annexes`() throws {
    let findings = LayerRules.check(
      withoutTraits: Layers.facade, manifest: try Manifest.current(),
      allowing: Layers.productsInTestLibraries)
    #expect(findings == [])
  }

  @Test func `the map has one row for every module, below its layer`() throws {
    let map = try String(contentsOf: Repository.url("Sources/README.md"), encoding: .utf8)
    let findings = LayerRules.check(map: map, manifest: try Manifest.current())
    #expect(findings == [])
  }

  @Test func `the walks name types and members that exist`() throws {
    let map = try String(contentsOf: Repository.url("Sources/README.md"), encoding: .utf8)
    let sources = try Repository.swiftFiles(in: ["Sources"]).map(\.text).joined(separator: "\n")
    #expect(map.contains("\n## The walk"))
    #expect(LayerRules.check(walksOf: map, sources: sources) == [])
  }

  @Test func `every import is declared`() throws {
    let manifest = try Manifest.current()
    let files = try Repository.swiftFiles(in: ["Sources", "Tests", "Examples"])
    #expect(files.contains { $0.target == "RetakeCore" })
    for file in files where file.name != "Package.swift" {
      let findings = try LayerRules.check(imports: file, manifest: manifest)
      #expect(findings == [])
    }
  }
}

/// The same rules, each checked with a planted fault.
@Suite struct PlantedLayerTests {
  /// - Parameters:
  ///   - paths: Where each module is; a test and a product of another package have no entry.
  func manifest(
    _ dependencies: [String: [String]], paths: [String: String] = [:]
  ) -> Manifest {
    Manifest(
      targets: dependencies.sorted { $0.key < $1.key }.map { name, needs in
        Manifest.Target(
          name: name, type: name.hasSuffix("Tests") ? "test" : "regular",
          path: paths[name].map { "Sources/\($0)/\(name)" },
          dependencies: needs.map { Manifest.Dependency(name: $0) })
      }, products: [Manifest.Product(name: "Facade", targets: ["Facade"])])
  }

  func layerRules(_ dependencies: [String: [String]], _ paths: [String: String]) -> [String] {
    LayerRules.check(layersOf: manifest(dependencies, paths: paths)).map(\.rule)
  }

  func importRules(_ text: String, at path: String) throws -> [String] {
    let declared = manifest([
      "Ground": [], "RetakeRuntime": ["Ground"], "Retake": ["Ground"],
      "RetakeRuntimeTests": ["RetakeRuntime"],
    ])
    return try LayerRules.check(imports: SourceFile(path: path, text: text), manifest: declared)
      .map { "\($0.line) \($0.rule)" }
  }

  @Test func `an import of a higher layer is found`() {
    let dependencies = ["Ground": ["Parts"], "Parts": ["CZip"], "CZip": []]
    #expect(
      layerRules(dependencies, ["Ground": "Engine", "Parts": "Judge", "CZip": "Headers"])
        == ["Ground (Engine) may not import Parts (Judge)"])
    #expect(
      layerRules(dependencies, ["Ground": "Judge", "Parts": "Judge", "CZip": "Headers"]) == [])
  }

  @Test func `an annex that imports another one is found`() {
    #expect(
      layerRules(["Bag": ["Model"], "Model": []], ["Bag": "Annexes", "Model": "Annexes"])
        == ["Bag (Annexes) may not import Model (Annexes)"])
  }

  @Test func `headers that import something are found`() {
    #expect(
      layerRules(["CZip": ["CTar"], "CTar": []], ["CZip": "Headers", "CTar": "Headers"])
        == ["CZip (Headers) may not import CTar (Headers)"])
  }

  @Test func `a module outside of the layers is found`() {
    #expect(layerRules(["Attic": []], ["Attic": "Roof"]) == ["Attic is in no layer of Sources"])
  }

  @Test func `a parser that comes with a library for tests by way of another module is found`() {
    let manifest = manifest([
      "Probe": ["Parts"], "Parts": ["Ground", "CZip"], "Ground": ["Parser"],
      "Other": ["RetakeServe"], "RetakeServe": [],
    ])
    func rules(_ names: [String]) -> [String] {
      LayerRules.check(testLibraries: names, manifest: manifest, allowing: ["CZip"]).map(\.rule)
    }
    #expect(rules(["Probe"]) == ["Parser comes with Probe, by way of Ground"])
    #expect(rules(["Other"]) == ["RetakeServe comes with Other, by way of Other"])
    #expect(rules(["Ghost"]) == ["there is no Ghost"])
  }

  @Test func `an annex that comes without its trait is found`() {
    var manifest = manifest(
      ["Facade": ["Bag"], "Bag": ["Zip"], "Parts": ["Facade"]],
      paths: ["Facade": "EntryPoints", "Bag": "Annexes", "Parts": "EntryPoints"])
    func rules(_ name: String) -> [String] {
      LayerRules.check(withoutTraits: name, manifest: manifest, allowing: []).map(\.rule)
    }
    #expect(
      rules("Parts") == [
        "Bag comes with Parts without a trait, by way of Facade",
        "Zip comes with Parts without a trait, by way of Bag",
      ])
    for index in manifest.targets.indices where manifest.targets[index].name == "Facade" {
      manifest.targets[index].dependencies = [Manifest.Dependency(name: "Bag", traits: ["Bags"])]
    }
    #expect(rules("Parts") == [])
    #expect(rules("Ghost") == ["there is no Ghost"])
  }

  @Test func `a dependency is read with its condition`() throws {
    let text = """
      [{"byName": ["A", null]}, {"target": ["B", {"platformNames": [], "traits": ["T"]}]},
       {"product": ["C", "P", null, {"platformNames": [], "traits": ["U"]}]}, {"byName": ["D"]}]
      """
    let read = try JSONDecoder().decode([Manifest.Dependency].self, from: Data(text.utf8))
    #expect(read.map(\.name) == ["A", "B", "C", "D"])
    #expect(read.map(\.traits) == [[], ["T"], ["U"], []])
  }

  @Test func `a walk by a name that is gone is found`() {
    let findings = LayerRules.check(
      walksOf: "\n## The walk\n`Camera.run` → `Gone` → `Camera.gone`, `frame` → `Camera.read(id)`",
      sources: "struct Camera {\n  func run() {}\n  func read() {}\n}")
    #expect(findings.map(\.rule) == ["`Gone` is not declared", "`Camera.gone` is not declared"])
  }

  @Test func `a module that the map forgets, misplaces or invents is found`() {
    let map = """
      Parts, in the text alone
      ### Engine
      | module | what it contains |
      |---|---|
      | Ground, Tool | Parts |
      ## Another table
      | Parts | a |
      """
    let findings = LayerRules.check(
      map: map,
      manifest: manifest(
        ["Tool": [], "Ground": [], "Parts": [], "PartsTests": []],
        paths: ["Tool": "Judge", "Ground": "Engine", "Parts": "Engine"]))
    #expect(
      findings.map(\.rule) == [
        "Parts (Engine) has no row in the map", "Tool (Judge) has no row in the map",
        "Tool (Engine) is no module of Package.swift",
      ])
  }

  @Test(arguments: [
    "import Parts", "@testable import Parts", "internal import struct Parts.Wheel",
    "@_implementationOnly import Parts", "  import Parts", "import Foundation; import Parts",
    "#if os(Linux)\nimport Parts\n#endif",
  ])
  func `an import that is not declared is found in every spelling`(text: String) throws {
    let rules = try importRules(text, at: "Sources/Engine/Ground/Deep/Inside/Stone.swift")
    let line = text.hasPrefix("#if") ? 2 : 1
    #expect(rules == ["\(line) Package.swift does not list Parts for Ground"])
  }

  @Test func `a test that leans on a transitive dependency is found`() throws {
    let text = "import Testing\n@testable import RetakeRuntime\nimport Ground\n"
    #expect(
      try importRules(text, at: "Tests/RetakeRuntimeTests/WheelTests.swift") == [
        "3 Package.swift does not list Ground for RetakeRuntimeTests"
      ])
  }

  @Test func `a toolchain module is only for modules that are named`() throws {
    let text = "import Synchronization"
    #expect(try importRules(text, at: "Sources/Engine/RetakeRuntime/Lock.swift") == [])
    #expect(
      try importRules(text, at: "Sources/Engine/Ground/Lock.swift") == [
        "1 Package.swift does not list Synchronization for Ground"
      ])
  }

  @Test func `only Retake re-exports`() throws {
    let text = "@_exported import Ground"
    #expect(try importRules(text, at: "Sources/EntryPoints/Retake/Exports.swift") == [])
    #expect(
      try importRules(text, at: "Sources/Engine/RetakeRuntime/Exports.swift") == [
        "1 only Retake re-exports; RetakeRuntime re-exports Ground"
      ])
  }

  @Test func `the C library stays in small files`() throws {
    let small = "import Glibc\n"
    let large = small + String(repeating: "\n", count: Layers.platformFileLinesMax)
    #expect(try importRules(small, at: "Sources/Engine/Ground/Platform.swift") == [])
    #expect(
      try importRules(large, at: "Sources/Engine/Ground/Everything.swift") == [
        "1 Glibc belongs in a file of at most \(Layers.platformFileLinesMax) lines"
      ])
  }

  @Test func `an example imports libraries of the package`() throws {
    #expect(try importRules("import Facade", at: "Examples/First/Sources/main.swift") == [])
    #expect(
      try importRules("import Ground", at: "Examples/First/Sources/main.swift") == [
        "1 an example imports Ground, which is not a library of the package"
      ])
  }

  @Test func `the tests of an example import Testing and what the example has`() throws {
    let path = "Examples/First/Tests/ModelTests/ModelTests.swift"
    #expect(try importRules("import Model\nimport Facade\nimport Testing", at: path) == [])
    #expect(
      try importRules("import Ground", at: path) == [
        "1 an example imports Ground, which is not a library of the package"
      ])
    #expect(
      try importRules("import Testing", at: "Examples/First/Sources/Model/Model.swift") == [
        "1 an example imports Testing, which is not a library of the package"
      ])
  }

  @Test func `an import in a comment or a text is none`() throws {
    let text =
      "// import Parts\nlet code = \"import Parts\"\nlet page = \"\"\"\n  import Parts\n  \"\"\"\n"
    #expect(try importRules(text, at: "Sources/Engine/Ground/Stone.swift") == [])
  }
}
