import Foundation
import RetakeCore
import RetakeProcess
import RetakeRuntime

/// Compiles a folder of stages in Swift and links a `retake` with these stages.
package struct StageBuild {
  package struct Result: Hashable, Sendable, Codable {
    /// The program, in the folder of the stages.
    package var program: String
    /// The number of Swift files.
    package var files: Int
  }

  /// The name of the program, in the folder of the stages.
  package static let programName = "retake"
  /// The product of the package that `retake init --swift` writes.
  static let productName = "own-retake"
  /// The variable with which that package finds Retake.
  static let sourceVariable = "RETAKE_SOURCE"
  private static let filesMax = 1_000
  private static let fileBytesMax: Int64 = 1 << 24
  private static let compileSecondsMax = 1_800.0
  /// SwiftPM may compile all of Retake.
  private static let packageSecondsMax = 14_400.0

  /// Without a slash at its end.
  package let folder: String
  private let isInterrupted: () -> Bool
  private let show: @Sendable ([UInt8]) -> Void

  /// - Parameters:
  ///   - isInterrupted: Called about ten times per second.
  ///   - show: Receives the compiler's messages as they are, on a separate thread.
  package init(
    folder: String, isInterrupted: @escaping () -> Bool,
    show: @escaping @Sendable ([UInt8]) -> Void
  ) {
    // The completion of a shell ends with a slash.
    self.folder = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    self.isInterrupted = isInterrupted
    self.show = show
  }

  private var program: String { path(Self.programName) }

  /// As the user named the folder, because messages of the compiler begin with the path.
  private func path(_ name: String) -> String { folder == "." ? name : "\(folder)/\(name)" }

  /// Compiles the folder with Retake's compiled modules.
  ///
  /// - Parameter arguments: More arguments of the compiler.
  /// - Throws: `SuiteError`, `RuntimeError.interrupted`.
  package func run(_ arguments: [String] = []) throws -> Result {
    let sources = try swiftFiles()
    let files = try DevelopmentFiles.find()
    let compiler = try files.requireCompiler()
    // Without it, the compiler takes a single file for main.swift, whatever its name is.
    let library = sources.contains(where: Self.isMain) ? [] : ["-parse-as-library"]
    try run(
      compiler,
      ["-O", "-whole-module-optimization", "-swift-version", "6", "-module-name", "own_retake"]
        + library + arguments + files.arguments + sources + ["-o", program],
      secondsMax: Self.compileSecondsMax)
    return Result(program: program, files: sources.count)
  }

  /// Compiles the folder, which is a package of SwiftPM, and Retake from its source.
  ///
  /// - Throws: `SuiteError`, `RuntimeError.interrupted`.
  package func run(source checkout: String) throws -> Result {
    let sources = try swiftFiles()
    for folder in [folder, checkout] where !isFile("\(folder)/Package.swift") {
      throw SuiteError(
        "suite.build.noPackage", "there is no Package.swift here", at: folder,
        advice: folder == checkout
          ? "Name a folder with Retake's source: --source ../retake"
          : "Write one: retake init --swift \(folder.shellWord)")
    }
    guard let swift = ChildProcess.path(of: "swift") else {
      throw SuiteError.noCompiler(needed: "Swift 6.2 or newer")
    }
    try run(
      swift,
      ["build", "-c", "release", "--package-path", folder, "--product", Self.productName],
      environment: [
        Self.sourceVariable: URL(fileURLWithPath: checkout).standardizedFileURL.path,
        // SwiftPM before 6.4 passes Retake's traits to the compiler in the order of a Set; in
        // another order, it compiles everything again.
        "SWIFT_DETERMINISTIC_HASHING": "1",
      ], secondsMax: Self.packageSecondsMax)
    try install("\(folder)/.build/release/\(Self.productName)")
    return Result(program: program, files: sources.count)
  }

  /// The Swift files of Sources, or of the folder itself if it has no Sources, in a fixed order.
  private func swiftFiles() throws -> [String] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue
    else {
      throw SuiteError(
        "suite.build.noFolder", "there is no such folder", at: folder,
        advice: "Make it, with a first stage: retake init --swift \(folder.shellWord)")
    }
    if FileManager.default.fileExists(atPath: program, isDirectory: &isFolder), isFolder.boolValue {
      throw SuiteError.exists(path: program)
    }
    let names =
      (try? FileManager.default.subpathsOfDirectory(atPath: path("Sources")))?
      .map { "Sources/\($0)" } ?? (try? FileManager.default.contentsOfDirectory(atPath: folder))
    let found = (names ?? []).filter { $0.hasSuffix(".swift") && $0 != "Package.swift" }.sorted()
    guard !found.isEmpty else {
      throw SuiteError(
        "suite.build.noSources", "there is no Swift file here", at: folder,
        advice: "Begin with a first stage: retake init --swift \(folder.shellWord)")
    }
    guard found.count <= Self.filesMax else {
      throw SuiteError(
        "suite.build.tooManyFiles",
        "there are \(found.count) Swift files here; \(Self.filesMax) is the limit", at: folder,
        advice: "Name the folder of your stages: retake build FOLDER")
    }
    guard found.contains(where: isEntry) else {
      throw SuiteError(
        "suite.build.noMain", "no file here begins the program", at: folder,
        advice: "Write Sources/main.swift, as 'retake init --swift' does, with "
          + "RetakeCommand.main(stages: { $0.register(MyStage.self) })")
    }
    return found.map(path)
  }

  private func isEntry(_ name: String) -> Bool {
    if Self.isMain(name) { return true }
    let text = try? RegularFile.contents(
      path(name), links: .followed, bytesMax: Self.fileBytesMax)
    return text.map { String(decoding: $0, as: UTF8.self).contains("@main") } ?? false
  }

  private static func isMain(_ path: String) -> Bool {
    path == "main.swift" || path.hasSuffix("/main.swift")
  }

  private func isFile(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  private func run(
    _ executable: String, _ arguments: [String], environment changes: [String: String] = [:],
    secondsMax: Double
  ) throws {
    let process = BoundedProcess(
      executable: executable, arguments: arguments,
      environment: ProcessInfo.processInfo.environment.merging(changes) { $1 },
      secondsMax: secondsMax, isInterrupted: isInterrupted, onOutput: show)
    let end: BoundedProcess.End
    do {
      end = try process.run().end
    } catch {
      throw SuiteError.notBuilt(folder, cause: "\(executable): \(error.systemText)")
    }
    switch end {
    case .exited(0): return
    case .interrupted: throw RuntimeError.interrupted
    // The compiler has said why.
    case .exited: throw SuiteError.notBuilt(folder, cause: nil)
    case .signalled(let number):
      throw SuiteError.notBuilt(folder, cause: "signal \(number) ended the compiler")
    case .stopped:
      throw SuiteError.notBuilt(
        folder, cause: "the compiler did not end within \(Int(secondsMax)) s")
    }
  }

  /// Replaces the program, which may be running.
  private func install(_ built: String) throws {
    let new = program + ".new"
    do {
      try? FileManager.default.removeItem(atPath: new)
      try FileManager.default.copyItem(atPath: built, toPath: new)
      guard rename(new, program) == 0 else { throw CocoaError(.fileWriteUnknown) }
    } catch {
      try? FileManager.default.removeItem(atPath: new)
      throw SuiteError.notWritable(path: program, cause: error.systemText)
    }
  }
}

extension SuiteError {
  static func notBuilt(_ folder: String, cause: String?) -> Self {
    Self(
      "suite.build.failed", "the stages were not compiled", cause: cause,
      at: folder == "." ? nil : folder,
      advice: "Fix what the compiler says, then: retake build"
        + (folder == "." ? "" : " \(folder.shellWord)"))
  }
}
