import Foundation
import RetakeTestSupport
import Testing

/// Every target imports what the floors table allows, and nothing else.
@Suite struct FloorsTests {
  @Test func `the table itself only looks down`() {
    #expect(FloorRules.check(table: Floors.table) == [])
  }

  @Test func `the manifest keeps to the floors`() throws {
    let manifest = try Manifest.current()
    #expect(manifest.targets.contains { $0.name == "RetakeCore" })
    let findings = FloorRules.check(manifest: manifest, table: Floors.table)
    #expect(findings == [])
  }

  @Test func `no server and no command parser comes with the libraries for tests`() throws {
    let findings = FloorRules.check(
      testLibraries: Floors.testLibraries, manifest: try Manifest.current(),
      allowing: Floors.besideTests)
    #expect(findings == [])
  }

  @Test func `the map has a row for every room`() throws {
    let map = try String(contentsOf: Repository.url("Sources/README.md"), encoding: .utf8)
    let findings = FloorRules.check(map: map, manifest: try Manifest.current())
    #expect(findings == [])
  }

  @Test func `every import is allowed and declared`() throws {
    let manifest = try Manifest.current()
    let files = try Repository.swiftFiles(in: ["Sources", "Tests", "Examples"])
    #expect(files.contains { $0.target == "RetakeCore" })
    for file in files where file.name != "Package.swift" {
      let findings = try FloorRules.check(imports: file, manifest: manifest, table: Floors.table)
      #expect(findings == [])
    }
  }
}

/// The same rules, each checked with a planted fault.
@Suite struct PlantedFloorTests {
  let table = [
    FloorEntry(floor: 0, name: "Ground", outside: ["CZip"]),
    FloorEntry(floor: 1, name: "Parts", ours: ["Ground"], toolchain: ["Synchronization"]),
    FloorEntry(floor: 6, name: "Facade", ours: ["Ground"]),
  ]

  func manifest(_ dependencies: [String: [String]]) -> Manifest {
    Manifest(
      targets: dependencies.sorted { $0.key < $1.key }.map { name, needs in
        Manifest.Target(
          name: name, type: name.hasSuffix("Tests") ? "test" : "regular",
          dependencies: needs.map { Manifest.Dependency(name: $0) })
      })
  }

  func importRules(_ text: String, at path: String) throws -> [String] {
    let declared = manifest([
      "Ground": [], "Parts": ["Ground"], "Facade": ["Ground"], "PartsTests": ["Parts"],
    ])
    return try FloorRules.check(
      imports: SourceFile(path: path, text: text), manifest: declared, table: table
    ).map { "\($0.line) \($0.rule)" }
  }

  @Test func `a table that looks up is found`() {
    let upsideDown = table + [FloorEntry(floor: 0, name: "Cellar", ours: ["Parts"])]
    #expect(
      FloorRules.check(table: upsideDown).map(\.rule) == [
        "Cellar (floor 0) uses Parts above it (floor 1)"
      ])
  }

  @Test func `a dependency that the table does not have is found`() {
    let findings = FloorRules.check(
      manifest: manifest(["Ground": ["Parts"], "Parts": ["Ground"]]), table: table)
    #expect(findings.map(\.rule) == ["Ground may not depend on Parts"])
  }

  @Test func `a target that the table does not have is found`() {
    let findings = FloorRules.check(manifest: manifest(["Attic": []]), table: table)
    #expect(findings.map(\.rule) == ["Attic is not in the floors table"])
  }

  @Test func `a parser that comes with a library for tests by way of another room is found`() {
    let manifest = manifest([
      "Probe": ["Parts"], "Parts": ["Ground", "CZip"], "Ground": ["Parser"],
      "Other": ["RetakeServe"], "RetakeServe": [],
    ])
    func rules(_ names: [String]) -> [String] {
      FloorRules.check(testLibraries: names, manifest: manifest, allowing: ["CZip"]).map(\.rule)
    }
    #expect(rules(["Probe"]) == ["Parser comes with Probe, by way of Ground"])
    #expect(rules(["Other"]) == ["RetakeServe comes with Other, by way of Other"])
    #expect(rules(["Ghost"]) == ["there is no Ghost"])
  }

  @Test func `a room that the map forgets is found`() {
    let map = "Parts, in the text alone\n| room | what |\n|---|---|\n| Ground, Facade | Parts |\n"
    let findings = FloorRules.check(
      map: map, manifest: manifest(["Facade": [], "Ground": [], "Parts": [], "PartsTests": []]))
    #expect(findings.map(\.rule) == ["Parts has no row in the map"])
  }

  @Test(arguments: [
    "import Parts", "@testable import Parts", "internal import struct Parts.Wheel",
    "@_implementationOnly import Parts", "  import Parts", "import Foundation; import Parts",
    "#if os(Linux)\nimport Parts\n#endif",
  ])
  func `an import of a higher floor is found in every spelling`(text: String) throws {
    let rules = try importRules(text, at: "Sources/Ground/Deep/Inside/Stone.swift")
    let line = text.hasPrefix("#if") ? 2 : 1
    #expect(rules == ["\(line) Ground may not import Parts"])
  }

  @Test func `an import that is allowed but not declared is found`() throws {
    #expect(
      try importRules("import CZip", at: "Sources/Ground/Zip.swift") == [
        "1 CZip is not a declared dependency of Ground"
      ])
  }

  @Test func `a test that leans on a transitive dependency is found`() throws {
    let text = "import Testing\n@testable import Parts\nimport Ground\n"
    #expect(
      try importRules(text, at: "Tests/PartsTests/WheelTests.swift") == [
        "3 Ground is not a declared dependency of PartsTests"
      ])
  }

  @Test func `a toolchain module is only for those that the table names`() throws {
    let text = "import Synchronization"
    #expect(try importRules(text, at: "Sources/Parts/Lock.swift") == [])
    #expect(
      try importRules(text, at: "Sources/Ground/Lock.swift") == [
        "1 Ground may not import Synchronization"
      ])
  }

  @Test func `only the façade re-exports`() throws {
    let text = "@_exported import Ground"
    #expect(try importRules(text, at: "Sources/Facade/Exports.swift") == [])
    #expect(
      try importRules(text, at: "Sources/Parts/Exports.swift") == [
        "1 only the façade re-exports; Parts re-exports Ground"
      ])
  }

  @Test func `the C library stays in small files`() throws {
    let small = "import Glibc\n"
    let large = small + String(repeating: "\n", count: Floors.platformFileLinesMax)
    #expect(try importRules(small, at: "Sources/Ground/Platform.swift") == [])
    #expect(
      try importRules(large, at: "Sources/Ground/Everything.swift") == [
        "1 Glibc belongs in a file of at most \(Floors.platformFileLinesMax) lines"
      ])
  }

  @Test func `an example comes in by a door`() throws {
    #expect(try importRules("import Retake", at: "Examples/First/Sources/main.swift") == [])
    #expect(
      try importRules("import Ground", at: "Examples/First/Sources/main.swift") == [
        "1 an example imports Ground, not a door"
      ])
  }

  @Test func `the tests of an example import Testing and what the example has`() throws {
    let path = "Examples/First/Tests/ModelTests/ModelTests.swift"
    #expect(try importRules("import Model\nimport Retake\nimport Testing", at: path) == [])
    #expect(
      try importRules("import Ground", at: path) == ["1 an example imports Ground, not a door"])
    #expect(
      try importRules("import Testing", at: "Examples/First/Sources/Model/Model.swift") == [
        "1 an example imports Testing, not a door"
      ])
  }

  @Test func `an import in a comment or a text is none`() throws {
    let text =
      "// import Parts\nlet code = \"import Parts\"\nlet page = \"\"\"\n  import Parts\n  \"\"\"\n"
    #expect(try importRules(text, at: "Sources/Ground/Stone.swift") == [])
  }
}
