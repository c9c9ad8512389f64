import Foundation
import RetakeProcess
import RetakeTestSupport
import Testing

/// `retake init --swift` and `retake build`, with a `retake` that is installed in a prefix.
@Suite struct BuildCommandTests {
  private static let hasCompiler = ChildProcess.path(of: "swiftc") != nil
  private static let noCompiler: Comment = "swiftc is not in PATH"
  private static let stage = "Sources/BrightPixels.swift"

  /// A prefix with `bin/retake`.
  private struct Installation {
    let prefix: TemporaryFolder

    var program: String { prefix.file("bin/retake").path }

    init() throws {
      prefix = try TemporaryFolder("retake-prefix")
      let program = prefix.file("bin/retake")
      try FileManager.default.createDirectory(
        at: program.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: Workplace.binary, toPath: program.path)
    }

    /// Installs the files of this build, as the packages contain them.
    func addDevelopmentFiles() throws {
      let made = try runCommand(
        packageRoot.appending(path: "Scripts/development-files").path,
        arguments: [productsFolder.path, prefix.file("lib/retake").path])
      try #require(made.status == 0, "\(made.stderr)")
    }

    /// Installs a description alone.
    func add(description: String) throws {
      try prefix.write(description, to: "lib/retake/development.json")
    }

    /// Makes a program of the folder `tools` of a shell script.
    func add(tool name: String, _ script: String) throws {
      let file = try prefix.write("#!/bin/sh\n\(script)\n", to: "tools/\(name)")
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    }

    var tools: [String: String?] { ["PATH": "\(prefix.file("tools").path):/usr/bin:/bin"] }
  }

  private static let description =
    #"{"v": 1, "compiler": "Swift version 9.8.7 (swift-9.8.7-RELEASE)", "#
    + #""stdlib": "shared", "linked": []}"#

  private func text(_ path: String, of workplace: Workplace) throws -> String {
    try String(contentsOf: workplace.folder.file(path), encoding: .utf8)
  }

  private func edit(
    _ workplace: Workplace, _ old: String, _ new: String
  ) throws {
    let before = try text(Self.stage, of: workplace)
    try #require(before.contains(old))
    try workplace.folder.write(before.replacing(old, with: new), to: Self.stage)
  }

  @Test(.enabled(if: hasCompiler, noCompiler))
  func `a stage is compiled without Retake's source, and its next edit is a regression`() throws {
    let installation = try Installation()
    try installation.addDevelopmentFiles()
    let workplace = try Workplace()
    func retake(_ words: String...) throws -> CommandResult {
      try workplace.retake(words: words, binary: installation.program)
    }
    // By `env`, which knows the folder.
    func own(_ words: String...) throws -> CommandResult {
      try workplace.retake(words: ["./retake"] + words, binary: "/usr/bin/env")
    }
    let made = try retake("init", "--swift")
    try #require(made.status == 0, "\(made.stderr)")
    #expect(made.stdout.contains("wrote \(Self.stage)\n"), "\(made.stdout)")
    #expect(made.stdout.hasSuffix("next: retake build\n"), "\(made.stdout)")
    let doctor = try retake("doctor").stdout
    #expect(doctor.contains("ok      stages in Swift  Swift version "), "\(doctor)")

    let built = try retake("build")
    try #require(built.status == 0, "\(built.stderr)")
    #expect(built.stderr.isEmpty, "\(built.stderr)")
    #expect(built.stdout.contains("wrote retake: 2 Swift files, "), "\(built.stdout)")
    #expect(
      built.stdout.hasSuffix("next: ./retake import clip.mp4, then: ./retake test\n"),
      "\(built.stdout)")

    try workplace.record("yard", frames: 12)
    let installed = try retake("test")
    #expect(installed.status == 2, "\(installed.stdout)")
    #expect(
      (installed.stdout + installed.stderr).contains("the ./retake of 'retake build'"),
      "\(installed.stdout)\(installed.stderr)")
    let first = try own("test")
    #expect(first.status == 3, "\(first.stdout)\(first.stderr)")
    #expect((first.stdout + first.stderr).contains("./retake accept"), "\(first.stdout)")
    #expect(try own("accept", "--reason", "first").status == 0)
    #expect(try own("test").status == 0)

    try edit(workplace, "> 200", "> 100")
    let again = try retake("build", "--json")
    #expect(try again.status == 0 && again.json().program.text == "retake", "\(again.stderr)")
    #expect(try own("test").status == 1)

    try edit(workplace, "> 100", "> missing")
    let refused = try retake("build")
    #expect(refused.status == 2 && refused.stdout.isEmpty, "\(refused.stdout)")
    #expect(
      refused.stderr.contains("\(Self.stage):8:"), "as the compiler says it: \(refused.stderr)")
    #expect(
      refused.stderr.contains("error: cannot find 'missing' in scope"), "\(refused.stderr)")
    #expect(refused.stderr.contains("[suite.build.failed]"), "\(refused.stderr)")
    #expect(try own("test").status == 1, "the program of the build before is left")
  }

  @Test func `a compiler of another version is named with the version that is needed`() throws {
    let installed = try Installation()
    try installed.add(description: Self.description)
    try installed.add(
      tool: "swiftc",
      """
      [ "$1" = --version ] || exit 70
      echo 'Swift version 5.9 (swift-5.9-RELEASE)'
      echo 'Target: x86_64-unknown-linux-gnu'
      """)
    let workplace = try Workplace()
    func retake(_ words: String...) throws -> CommandResult {
      try workplace.retake(words: words, environment: installed.tools, binary: installed.program)
    }
    try #require(try retake("init", "--swift", "cam").status == 0)
    let refused = try retake("build", "cam")
    #expect(refused.status == 2)
    for words in [
      "need Swift version 9.8.7 (swift-9.8.7-RELEASE)",
      "(it is Swift version 5.9 (swift-5.9-RELEASE)) [suite.build.otherCompiler]",
      "Install Swift 9.8.7: https://www.swift.org/install", "retake build --source",
    ] { #expect(refused.stderr.contains(words), "\(refused.stderr)") }
    #expect(!workplace.exists("cam/retake"))
    let doctor = try retake("doctor")
    #expect(doctor.status == 0, "only advice")
    #expect(doctor.stdout.contains("advised stages in Swift  "), "\(doctor.stdout)")
    #expect(doctor.stdout.contains("it is Swift version 5.9"), "\(doctor.stdout)")
  }

  @Test func `each missing part is named with the next step`() throws {
    let installed = try Installation()
    let workplace = try Workplace()
    try workplace.folder.write("let x = 1", to: "stages/A.swift")
    try workplace.folder.write("print(1)", to: "whole/main.swift")
    func expect(_ code: String, _ advice: String, _ words: String...) throws {
      let result = try workplace.retake(
        words: ["build"] + words, environment: installed.tools, binary: installed.program)
      #expect(result.status == 2, "\(words)")
      #expect(result.stdout.isEmpty, "\(words)")
      #expect(result.stderr.contains("[suite.build.\(code)]"), "\(words): \(result.stderr)")
      #expect(result.stderr.contains(advice), "\(words): \(result.stderr)")
    }
    try expect("noFolder", "retake init --swift absent", "absent")
    try expect("noSources", "retake init --swift .", ".")
    try expect("noMain", "Sources/main.swift", "stages")
    try expect("noFiles", "Install the package retake-dev", "whole")
    try expect("noPackage", "retake init --swift whole", "whole", "--source", "absent")
    try installed.add(description: "{}")
    try expect("badFiles", "Install the package retake-dev again", "whole")
    try installed.add(description: Self.description)
    try expect("noCompiler", "https://www.swift.org/install", "whole")
    try installed.add(tool: "swiftc", "echo 'cannot open libmissing.so.6' >&2; exit 127")
    try expect("brokenCompiler", "(cannot open libmissing.so.6)", "whole")
  }

  @Test func `with the source of Retake, SwiftPM compiles the package`() throws {
    let installed = try Installation()
    let workplace = try Workplace()
    // Writes a program that prints the arguments and the place of Retake.
    try installed.add(
      tool: "swift",
      """
      mkdir -p cam/.build/release
      printf '#!/bin/sh\\necho "%s in %s"\\n' "$*" "$RETAKE_SOURCE" >cam/.build/release/own-retake
      chmod +x cam/.build/release/own-retake
      echo 'Build complete!'
      """)
    func retake(_ words: String...) throws -> CommandResult {
      try workplace.retake(words: words, environment: installed.tools, binary: installed.program)
    }
    try #require(try retake("init", "--swift", "cam").status == 0)
    try workplace.folder.write("", to: "checkout/Package.swift")
    let built = try retake("build", "cam/", "--source", "checkout")
    #expect(built.status == 0 && built.stderr == "Build complete!\n", "\(built.stderr)")
    #expect(built.stdout.contains("next: cd cam, then: ./retake import"), "\(built.stdout)")
    let says = try workplace.retake(words: ["cam/retake"], binary: "/usr/bin/env").stdout
    #expect(
      says.hasPrefix("build -c release --package-path cam --product own-retake in /"), "\(says)")
    #expect(says.hasSuffix("/checkout\n"), "\(says)")
  }

  @Test(.enabled(if: hasCompiler, noCompiler))
  func `init writes a package of SwiftPM, and leaves files as they are`() throws {
    let workplace = try Workplace()
    try workplace.folder.write("mine", to: "cam/\(Self.stage)")
    let made = try workplace.retake("init", "--swift", "cam")
    #expect(made.status == 0, "\(made.stderr)")
    #expect(made.stdout.hasPrefix("kept \(Self.stage), which is there"), "\(made.stdout)")
    #expect(made.stdout.hasSuffix("next: cd cam, then: retake build\n"), "\(made.stdout)")
    #expect(try text("cam/\(Self.stage)", of: workplace) == "mine")
    #expect(try text("cam/.gitignore", of: workplace) == "*.new\n.retake/\n/retake\n.build/\n")
    #expect(try text("cam/retake.yml", of: workplace).contains("pipeline: \"example:bright\""))

    let package = try runCommand(
      "swift", arguments: ["package", "--package-path", "cam", "dump-package"],
      environment: ["RETAKE_SOURCE": "/opt/elsewhere"], folder: workplace.folder.url)
    try #require(package.status == 0, "\(package.stderr)")
    #expect(package.stdout.contains("/opt/elsewhere"), "\(package.stdout)")
    #expect(try package.json().targets[0].name.text == "own-retake")

    let project = try text("cam/retake.yml", of: workplace)
    let again = try workplace.retake("init", "--swift", "cam")
    #expect(again.status == 0 && !again.stdout.contains("wrote"), "\(again.stdout)")
    #expect(try text("cam/retake.yml", of: workplace) == project)
    let both = try workplace.retake("init", "--swift", "--pipeline", "a.json")
    #expect(both.status == 64 && !workplace.exists("retake.yml"), "\(both.stderr)")
  }
}
