import Foundation
import RetakeCore
import RetakeProcess

/// Retake's compiled modules and its static library, with which stages in Swift are compiled.
/// `Scripts/development-files` makes them.
package struct DevelopmentFiles: Sendable {
  private struct Description: Codable {
    var v: Int
    /// The compiler of the modules. No other version can read them.
    var compiler: String
    var stdlib: StandardLibrary
    /// Arguments for the libraries that Retake is linked with.
    var linked: [String]
  }

  /// How the Swift runtime becomes part of a program.
  private enum StandardLibrary: String, Codable { case shared, `static` }

  /// The place of the files, relative to the prefix of the installation.
  private static let place = "lib/retake"
  private static let descriptionName = "development.json"
  private static let descriptionBytesMax: Int64 = 1 << 16
  private static let version = 1

  package let folder: String
  private let description: Description

  /// For example "Swift version 6.3.1 (swift-6.3.1-RELEASE)".
  package var compiler: String { description.compiler }

  /// The files that were installed with the running program; else, for a program with its own
  /// stages, the files that were installed with the `retake` of PATH.
  ///
  /// - Throws: `SuiteError.noDevelopmentFiles`, `SuiteError.badDevelopmentFiles`.
  package static func find() throws -> Self {
    let folders = [NewProcessRuns.ownExecutable, ChildProcess.path(of: "retake")].compactMap(\.self)
      .map(folder(ofProgram:))
    guard
      let found = folders.first(where: {
        FileManager.default.fileExists(atPath: "\($0)/\(descriptionName)")
      })
    else { throw SuiteError.noDevelopmentFiles(folder: folders[0]) }
    return try Self(folder: found)
  }

  private static func folder(ofProgram path: String) -> String {
    URL(fileURLWithPath: path).resolvingSymlinksInPath()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: place).path
  }

  private init(folder: String) throws {
    let path = "\(folder)/\(Self.descriptionName)"
    do {
      description = try JSONDecoder().decode(
        Description.self,
        from: RegularFile.contents(path, bytesMax: Self.descriptionBytesMax))
    } catch {
      throw SuiteError.badDevelopmentFiles(path: path, cause: "\(error)".shortened)
    }
    guard description.v == Self.version else {
      throw SuiteError.badDevelopmentFiles(path: path, cause: "version \(description.v)")
    }
    self.folder = folder
  }

  /// The arguments with which the compiler finds the modules and links a program.
  var arguments: [String] {
    let stdlib = description.stdlib == .static ? ["-static-stdlib"] : []
    // The whole library: conformances to protocols are found by no symbol. `lld` is part of every
    // toolchain, and links in a second.
    let linker = [
      "--whole-archive", "\(folder)/libretake-swift.a", "--no-whole-archive", "--gc-sections",
    ].flatMap { ["-Xlinker", $0] }
    return ["-I", "\(folder)/modules"] + stdlib + ["-use-ld=lld"] + linker + description.linked
  }

  /// The path of the compiler in PATH, if it can read the modules.
  ///
  /// - Throws: `SuiteError.noCompiler`, `.brokenCompiler`, `.otherCompiler`.
  package func requireCompiler() throws -> String {
    guard let path = ChildProcess.path(of: "swiftc") else {
      throw SuiteError.noCompiler(needed: compiler)
    }
    let found = try Self.version(ofCompiler: path)
    guard found == compiler else {
      throw SuiteError.otherCompiler(path, version: found, needed: compiler)
    }
    return path
  }

  /// Seconds that a compiler may take to print its version.
  private static let versionSecondsMax = 60.0

  private static func version(ofCompiler path: String) throws -> String {
    let process = BoundedProcess(
      executable: path, arguments: ["--version"],
      environment: ProcessInfo.processInfo.environment, secondsMax: versionSecondsMax)
    let text: String
    do {
      let result = try process.run()
      text = result.closingResponse
      guard result.end == .exited(0) else { throw SuiteError.brokenCompiler(path, cause: text) }
    } catch let error as ChildProcessError {
      throw SuiteError.brokenCompiler(path, cause: error.causeText)
    }
    // The driver may print its own version first, and the target follows on a line of its own.
    let line = text.split(separator: "|").first { $0.contains("Swift version") } ?? text[...]
    let start = line.firstRange(of: "Swift version")?.lowerBound ?? line.startIndex
    return line[start...].trimmingCharacters(in: .whitespaces).shortened
  }
}

extension SuiteError {
  static func noDevelopmentFiles(folder: String) -> Self {
    Self(
      "suite.build.noFiles", "the compiled modules of Retake are not installed", at: folder,
      advice: "Install the package retake-dev, which 'make package' makes next to retake; "
        + "or compile Retake, too: retake build --source CHECKOUT")
  }

  static func badDevelopmentFiles(path: String, cause: String) -> Self {
    Self(
      "suite.build.badFiles", "this description of Retake's modules cannot be read", cause: cause,
      at: path, advice: "Install the package retake-dev again, in the version of retake")
  }

  static func noCompiler(needed: String) -> Self {
    Self(
      "suite.build.noCompiler", "there is no Swift compiler (swiftc) in PATH",
      advice: "Install \(release(of: needed)): https://www.swift.org/install; then add its folder "
        + "usr/bin to PATH")
  }

  /// A library that it needs is missing, or it is for another machine.
  static func brokenCompiler(_ path: String, cause: String) -> Self {
    Self(
      "suite.build.brokenCompiler", "this Swift compiler does not start",
      cause: cause.isEmpty ? nil : cause, at: path,
      advice: "Install the libraries that it needs: https://www.swift.org/install")
  }

  static func otherCompiler(_ path: String, version: String, needed: String) -> Self {
    Self(
      "suite.build.otherCompiler",
      "this compiler cannot read the modules of Retake, which need \(needed)",
      cause: version.isEmpty ? "it prints no version" : "it is \(version)", at: path,
      advice: "Install \(release(of: needed)): https://www.swift.org/install; "
        + "or compile Retake with this compiler: retake build --source CHECKOUT")
  }

  /// "Swift 6.3.1" of "Swift version 6.3.1 (swift-6.3.1-RELEASE)".
  private static func release(of version: String) -> String {
    version.prefix { $0 != "(" }.replacing("Swift version", with: "Swift")
      .trimmingCharacters(in: .whitespaces)
  }
}
