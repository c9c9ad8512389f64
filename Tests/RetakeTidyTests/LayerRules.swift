/// The rules that need the layers and the manifest.
enum LayerRules {
  private static let path = "Package.swift"

  /// Checks that each module is in the folder of a layer, and imports only from its layer and lower
  /// layers.
  static func check(layersOf manifest: Manifest) -> [Finding] {
    manifest.targets.flatMap { target -> [Finding] in
      guard target.path?.hasPrefix("Sources/") == true else { return [] }
      guard let layer = Layers.layer(of: target.path) else {
        return [Finding(path: path, line: 0, rule: "\(target.name) is in no layer of Sources")]
      }
      return target.dependencyNames.compactMap { name in
        guard let lower = Layers.layer(of: manifest.target(name)?.path) else { return nil }
        let isAnnexOfAnnex = layer.name == Layers.annexes && lower.name == Layers.annexes
        guard lower.place > layer.place || isAnnexOfAnnex || layer.name == Layers.headers else {
          return nil
        }
        return Finding(
          path: path, line: 0,
          rule: "\(target.name) (\(layer.name)) may not import \(name) (\(lower.name))")
      }
    }
  }

  /// Checks that a module without traits needs no annex, and no product of another package that
  /// only annexes need.
  static func check(
    withoutTraits name: String, manifest: Manifest, allowing products: [String]
  ) -> [Finding] {
    guard manifest.target(name) != nil else {
      return [Finding(path: path, line: 0, rule: "there is no \(name)")]
    }
    return manifest.closure(of: name, withTraits: false).filter { needed in
      guard let target = manifest.target(needed.name) else {
        return !products.contains(needed.name)
      }
      return Layers.layer(of: target.path)?.name == Layers.annexes
    }.map {
      Finding(
        path: path, line: 0,
        rule: "\($0.name) comes with \(name) without a trait, by way of \($0.user)")
    }
  }

  /// Checks all direct and indirect dependencies of the libraries for users' tests: a server or a
  /// command parser would be built and linked into every test.
  static func check(
    testLibraries names: [String], manifest: Manifest, allowing outside: [String]
  ) -> [Finding] {
    names.flatMap { name -> [Finding] in
      guard manifest.target(name) != nil else {
        return [Finding(path: path, line: 0, rule: "there is no \(name)")]
      }
      return manifest.closure(of: name).filter { needed in
        let isOurs = manifest.target(needed.name) != nil
        return isOurs ? Layers.tools.contains(needed.name) : !outside.contains(needed.name)
      }.map {
        Finding(
          path: path, line: 0, rule: "\($0.name) comes with \(name), by way of \($0.user)")
      }
    }
  }

  /// Checks the map for people against Package.swift: below the heading of its layer each module
  /// has one row, and each row has a module.
  static func check(map text: String, manifest: Manifest) -> [Finding] {
    let expected = manifest.targets.compactMap { target in
      Layers.layer(of: target.path).map { "\(target.name) (\($0.name))" }
    }
    let rows = rows(ofMap: text)
    func findings(_ names: [String], _ rule: String) -> [Finding] {
      names.sorted().map {
        Finding(path: "Sources/README.md", line: 0, rule: "\($0) \(rule)")
      }
    }
    return findings(expected.filter { !rows.contains($0) }, "has no row in the map")
      + findings(rows.filter { !expected.contains($0) }, "is no module of Package.swift")
  }

  /// Checks the names of the map's walks, `Type` and `Type.member`, against the declarations in
  /// Sources.
  static func check(walksOf map: String, sources: String) -> [Finding] {
    guard let start = map.range(of: "\n## The walk")?.lowerBound else { return [] }
    let declared = words(
      after: ["struct", "class", "enum", "actor", "protocol", "typealias"], in: sources)
    let members = words(after: ["func", "var", "let", "case"], in: sources)
    return map[start...].matches(of: #/`([A-Z]\w*)(?:\.(\w+))?(?:\(\w*\))?`/#).compactMap { match in
      let isKnown =
        declared.contains(match.1) && match.2.map { members.contains($0) } ?? true
      return isKnown
        ? nil : Finding(path: "Sources/README.md", line: 0, rule: "\(match.0) is not declared")
    }
  }

  /// The words that only spaces separate from one of the keywords before. A regular expression
  /// needs seconds for all sources.
  private static func words(after keywords: Set<Substring>, in text: String) -> Set<Substring> {
    var result: Set<Substring> = []
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      var isAfter = false
      var rest = line
      // Ends: each round consumes a byte or more.
      while !rest.isEmpty {
        let word = rest.prefix(while: isOfWord)
        if word.isEmpty {
          isAfter = isAfter && rest.first == UInt8(ascii: " ")
          rest = rest.dropFirst()
        } else {
          if isAfter { result.insert(Substring(word)) }
          isAfter = keywords.contains(Substring(word))
          rest = rest[word.endIndex...]
        }
      }
    }
    return result
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }

  /// `RetakeCore (Engine)` for each module that a first cell names, below the heading `### Engine`.
  private static func rows(ofMap text: String) -> [String] {
    var layer = ""
    return text.split(separator: "\n").flatMap { line -> [String] in
      if line.hasPrefix("#") {
        layer = String(line.drop { $0 == "#" || $0 == " " })
        return []
      }
      guard line.hasPrefix("|"), Layers.order.contains(layer) else { return [] }
      let cell = line.split(separator: "|").first ?? ""
      return cell.split { !$0.isLetter && !$0.isNumber && $0 != "-" }
        .filter { $0 != "module" && $0.contains(where: \.isLetter) }.map { "\($0) (\(layer))" }
    }
  }

  /// Checks that the manifest declares each import, because SwiftPM permits a transitive import.
  static func check(imports file: SourceFile, manifest: Manifest) throws -> [Finding] {
    try ImportLine.all(in: file).compactMap { line in
      complaint(line, file: file, manifest: manifest).map {
        Finding(path: file.path, line: line.line, rule: $0)
      }
    }
  }

  private static func complaint(
    _ line: ImportLine, file: SourceFile, manifest: Manifest
  ) -> String? {
    let module = line.module
    if line.isExported, file.target != Layers.facade {
      return "only \(Layers.facade) re-exports; \(file.target) re-exports \(module)"
    }
    if Layers.everywhere.contains(module) { return nil }
    if Layers.cLibraries.contains(module) { return platformComplaint(module, file: file) }
    switch file.folders.first {
    case "Examples":
      return exampleComplaint(module, file: file, manifest: manifest)
    case "Tests":
      if Layers.inTests.contains(module) { return nil }
    default:
      if Layers.toolchain[file.target]?.contains(module) == true { return nil }
    }
    guard let target = manifest.target(file.target) else {
      return "\(file.target) is not a target of Package.swift"
    }
    // `retake-lab` is imported as retake_lab.
    return target.dependencyNames.contains { $0.replacing("-", with: "_") == module }
      ? nil : "Package.swift does not list \(module) for \(file.target)"
  }

  /// An example imports libraries that the package offers; its tests also import the libraries of
  /// all tests, and the module of the example.
  private static func exampleComplaint(
    _ module: String, file: SourceFile, manifest: Manifest
  ) -> String? {
    if manifest.libraries.contains(module) { return nil }
    let isTest = file.folders.count > 3 && file.folders[2] == "Tests"
    if isTest, Layers.inTests.contains(module) || "\(module)Tests" == file.folders[3] {
      return nil
    }
    return "an example imports \(module), which is not a library of the package"
  }

  private static func platformComplaint(_ module: String, file: SourceFile) -> String? {
    let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false).count
    guard lines > Layers.platformFileLinesMax else { return nil }
    return "\(module) belongs in a file of at most \(Layers.platformFileLinesMax) lines"
  }
}
