/// The rules that need the floors table.
enum FloorRules {
  /// Checks the table itself: a target is above, or on the same floor as, everything that it uses.
  static func check(table: [FloorEntry]) -> [Finding] {
    table.flatMap { entry in
      entry.ours.compactMap { name in
        guard let lower = Floors.entry(name, in: table) else {
          return Finding(path: "floors", line: 0, rule: "\(entry.name) may use unknown \(name)")
        }
        guard lower.floor > entry.floor || name == entry.name else { return nil }
        return Finding(
          path: "floors", line: 0,
          rule: "\(entry.name) (floor \(entry.floor)) uses \(name) above it (floor \(lower.floor))")
      }
    }
  }

  /// Checks Package.swift against the table.
  static func check(manifest: Manifest, table: [FloorEntry]) -> [Finding] {
    let path = "Package.swift"
    return manifest.targets.filter(isSource).flatMap { target -> [Finding] in
      guard let entry = Floors.entry(target.name, in: table) else {
        return [Finding(path: path, line: 0, rule: "\(target.name) is not in the floors table")]
      }
      let allowed = entry.ours + entry.outside
      return target.dependencyNames.filter { !allowed.contains($0) }.map {
        Finding(path: path, line: 0, rule: "\(target.name) may not depend on \($0)")
      }
    }
  }

  /// Checks what comes with the libraries for users' tests, by all ways: a server or a command parser
  /// would be built and linked into every test.
  static func check(
    testLibraries names: [String], manifest: Manifest, allowing outside: [String]
  ) -> [Finding] {
    names.flatMap { name -> [Finding] in
      guard manifest.target(name) != nil else {
        return [Finding(path: "Package.swift", line: 0, rule: "there is no \(name)")]
      }
      return closure(of: name, in: manifest).filter { needed in
        let isOurs = manifest.target(needed.name) != nil
        return isOurs ? Floors.tools.contains(needed.name) : !outside.contains(needed.name)
      }.map {
        Finding(
          path: "Package.swift", line: 0,
          rule: "\($0.name) comes with \(name), by way of \($0.user)")
      }
    }
  }

  /// All that a target depends on, directly or not, and which target first brings it.
  private static func closure(
    of name: String, in manifest: Manifest
  ) -> [(name: String, user: String)] {
    var found: [(name: String, user: String)] = []
    var open = [name]
    // Ends: a name is appended once.
    while let user = open.popLast() {
      let names = manifest.target(user)?.dependencyNames ?? []
      for needed in names where !found.contains(where: { $0.name == needed }) {
        found.append((needed, user))
        open.append(needed)
      }
    }
    return found.sorted { $0.name < $1.name }
  }

  /// Checks the map for people against Package.swift: each source target has its row.
  static func check(map text: String, manifest: Manifest) -> [Finding] {
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("|") }
      .map { $0.split(separator: "|").first ?? "" }
    let named = Set(
      rows.flatMap { $0.split { !$0.isLetter && !$0.isNumber && $0 != "-" } }.map(String.init))
    return manifest.targets.filter { isSource($0) && !named.contains($0.name) }.map {
      Finding(path: "Sources/README.md", line: 0, rule: "\($0.name) has no row in the map")
    }
  }

  private static func isSource(_ target: Manifest.Target) -> Bool {
    target.type != "test" && !Floors.forTests.contains(target.name)
  }

  /// Checks that every import is permitted by the table and declared, because SwiftPM permits a
  /// transitive import.
  static func check(
    imports file: SourceFile, manifest: Manifest, table: [FloorEntry]
  ) throws -> [Finding] {
    try ImportLine.all(in: file).compactMap { line in
      guard let rule = complaint(line, file: file, manifest: manifest, table: table) else {
        return nil
      }
      return Finding(path: file.path, line: line.line, rule: rule)
    }
  }

  private static func complaint(
    _ line: ImportLine, file: SourceFile, manifest: Manifest, table: [FloorEntry]
  ) -> String? {
    let module = line.module
    if line.isExported, Floors.entry(file.target, in: table)?.floor != Floors.facade {
      return "only the façade re-exports; \(file.target) re-exports \(module)"
    }
    if Floors.everywhere.contains(module) { return nil }
    if Floors.cLibraries.contains(module) { return platformComplaint(module, file: file) }
    switch file.folders.first {
    case "Examples":
      return exampleComplaint(module, file: file)
    case "Tests":
      if Floors.inTests.contains(module) { return nil }
    default:
      guard let entry = Floors.entry(file.target, in: table) else {
        return "\(file.target) is not in the floors table"
      }
      if entry.toolchain.contains(module) { return nil }
      guard (entry.ours + entry.outside).contains(module) else {
        return "\(file.target) may not import \(module)"
      }
    }
    guard let target = manifest.target(file.target) else {
      return "\(file.target) is not a target of Package.swift"
    }
    return target.dependencyNames.contains(module)
      ? nil : "\(module) is not a declared dependency of \(file.target)"
  }

  /// An example imports doors; its tests also what all tests may, and what the example has.
  private static func exampleComplaint(_ module: String, file: SourceFile) -> String? {
    let isTest = file.folders.count > 3 && file.folders[2] == "Tests"
    if Floors.doors.contains(module) { return nil }
    if isTest, Floors.inTests.contains(module) || "\(module)Tests" == file.folders[3] {
      return nil
    }
    return "an example imports \(module), not a door"
  }

  private static func platformComplaint(_ module: String, file: SourceFile) -> String? {
    let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false).count
    guard lines > Floors.platformFileLinesMax else { return nil }
    return "\(module) belongs in a file of at most \(Floors.platformFileLinesMax) lines"
  }
}
